// Next.js on the server: a route handler and a server component, and `output: 'standalone'` copied to an empty folder.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { addModel, answerOf, expectedText, project, recipe, run, sentence, twoSentences, untilTranslated } from './support.mjs';

const component = `import { Translator } from 'wasmformer';
export const dynamic = 'force-dynamic';
export default async function Page() {
  const translator = await Translator.load('model.safetensors');
  const { text } = await translator.translate(${JSON.stringify(sentence)});
  translator.dispose();
  return <p>{text}</p>;
}`;

test('Next.js: a route handler and a server component, standalone in an empty folder', async (t) => {
  const layout = 'export default ({ children }) => <html lang="en"><body>{children}</body></html>;';
  const place = project('next', {
    'next.config.mjs': recipe('next.config.mjs'),
    'app/translate/route.js': recipe('app/translate/route.js'),
    'app/page.jsx': component,
    'app/layout.jsx': layout,
  }, ['next', 'react', 'react-dom']);
  addModel(place);
  run(join(place, 'node_modules/.bin/next'), ['build'], { cwd: place, env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1' } });
  const server = mkdtempSync(join(tmpdir(), 'wasmformer-standalone-'));
  t.after(() => rmSync(server, { recursive: true, force: true }));
  mkdirSync(join(server, 'app'));
  cpSync(join(place, '.next/standalone'), join(server, 'app'), { recursive: true });
  const port = 20_000 + process.pid % 10_000;
  const address = `http://127.0.0.1:${port}`;
  const expected = await expectedText();
  const route = `${address}/translate?text=${encodeURIComponent(twoSentences)}`;
  const [file, away] = ['model.safetensors', 'away.safetensors'].map((name) => join(server, 'app', name));
  renameSync(file, away);
  const answer = await untilTranslated('Next.js, standalone', async () => {
    const program = spawn(process.execPath, ['server.js'], {
      cwd: join(server, 'app'), env: { ...process.env, PORT: String(port), HOSTNAME: '127.0.0.1' }, stdio: ['ignore', 'ignore', 'inherit'],
    });
    t.after(() => program.kill());
    const withoutModel = await answerOf(route);
    renameSync(away, file);
    const response = await fetch(route);
    return [withoutModel.status, response.status, await response.json()];
  });
  assert.deepEqual(answer, [500, 200, { text: await expectedText(twoSentences) }]);
  const page = await answerOf(address);
  assert.ok((await page.text()).includes(`<p>${expected}</p>`));
});
