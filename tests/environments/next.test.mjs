// Next.js: client components without a configuration; on the server a route handler and a server component, and `output:
// 'standalone'` copied to an empty folder.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  addModel, answerOf, bundledModel, expectedText, inBrowserAt, packedModel, project, recipe, run, sentence, startServer, twoSentences,
  untilTranslated,
} from './support.mjs';

const packages = ['next', 'react', 'react-dom'];
const layout = 'export default ({ children }) => <html lang="en"><body>{children}</body></html>;';
process.env.NEXT_TELEMETRY_DISABLED = '1';
const next = (place) => join(place, 'node_modules/.bin/next');
const build = (place) => run(next(place), ['build'], { cwd: place });

const client = `'use client';
import { useState } from 'react';
import { useTranslation } from './useTranslation.js';
export default function Page() {
  const [source, setSource] = useState('Danke!');
  const { text } = useTranslation('/model.safetensors', source);
  return <><textarea value={source} onChange={({ target }) => setSource(target.value)} /><output>{text}</output></>;
}`;
const unconfigured = `import { Translator } from 'wasmformer';
export const dynamic = 'force-dynamic';
export const GET = () => Translator.load('model.safetensors')
  .then(() => Response.json({}), ({ code, message }) => Response.json({ code, message }));`;

test('Next.js without a configuration: a client component translates, a route handler says what is missing', async (t) => {
  const place = project('next-client', {
    'app/translate/route.js': unconfigured, 'app/useTranslation.js': recipe('useTranslation.js'), 'app/page.jsx': client, 'app/layout.jsx': layout,
  }, packages);
  addModel(place, 'public/model.safetensors');
  addModel(place);
  build(place);
  const address = startServer(t, place, () => [next(place), 'start']);
  const { code, message } = await (await answerOf(`${address}/translate`)).json();
  assert.equal(code, 'worker-script');
  assert.match(message, /serverExternalPackages/);
  const expected = await expectedText();
  await inBrowserAt('Next.js, client component', address, async (page) => {
    await page.waitForFunction(() => document.querySelector('output')?.textContent, undefined, { timeout: 60_000 });
    await page.fill('textarea', sentence);
    await page.waitForFunction((text) => document.querySelector('output').textContent === text, expected, { timeout: 60_000 });
  });
});

const component = `import { Translator } from 'wasmformer';
export const dynamic = 'force-dynamic';
export default async function Page() {
  const translator = await Translator.load('de-en');
  const { text } = await translator.translate(${JSON.stringify(sentence)});
  translator.dispose();
  return <p>{text}</p>;
}`;

test('Next.js: a route handler and a server component, standalone in an empty folder', async (t) => {
  const place = project('next', {
    'next.config.mjs': recipe("next.config.mjs, with output: 'standalone'"),
    'app/translate/route.js': recipe('app/translate/route.js'),
    'app/page.jsx': component,
    'app/layout.jsx': layout,
  }, [...packages, packedModel('de-en')]);
  build(place);
  const server = mkdtempSync(join(tmpdir(), 'wasmformer-standalone-'));
  t.after(() => rmSync(server, { recursive: true, force: true }));
  mkdirSync(join(server, 'app'));
  cpSync(join(place, '.next/standalone'), join(server, 'app'), { recursive: true, verbatimSymlinks: true });
  const route = `/translate?text=${encodeURIComponent(twoSentences)}`;
  const [installed, away] = ['wasmformer-de-en', 'away'].map((name) => join(server, 'app/node_modules', name));
  renameSync(installed, away);
  let address;
  const answer = await untilTranslated('Next.js, standalone', async () => {
    address = startServer(t, join(server, 'app'), () => ['server.js']);
    const withoutModel = await answerOf(address + route);
    renameSync(away, installed);
    const response = await fetch(address + route);
    return [withoutModel.status, response.status, await response.json()];
  });
  assert.deepEqual(answer, [500, 200, { text: await expectedText(twoSentences, bundledModel) }]);
  const html = await (await answerOf(address)).text();
  assert.ok(html.replaceAll('&#x27;', "'").includes(`<p>${await expectedText(sentence, bundledModel)}</p>`), html);
});
