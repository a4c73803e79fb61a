// The page of the quick start in the development servers of Vite, as it is printed.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { blocks } from '../guides.mjs';
import { answerOf, inBrowserAt, packedModel, project, startServer } from './support.mjs';

const guide = 'bindings/docs/quick-start.md';
const page = blocks(guide, 'html').find((html) => html.includes("from 'wasmformer-de-en'"));
const settings = blocks(guide, 'js').find((code) => code.includes('optimizeDeps'));

for (const [version, files] of [[6, { 'vite.config.js': settings }], [7, { 'vite.config.js': settings }], [8, {}]]) {
  test(`Vite ${version}: its development server shows the page of the quick start`, async (t) => {
    const place = project(`vite-${version}`, { 'index.html': page, ...files }, [`vite@${version}`, packedModel('de-en')]);
    const program = join(place, 'node_modules/vite/bin/vite.js');
    const address = startServer(t, place, (port) => [program, '--host', '127.0.0.1', '--port', String(port)]);
    await answerOf(address);
    const { result } = await inBrowserAt(`Vite ${version}, development`, address, async (page) => {
      const found = await page.waitForFunction(() => document.querySelector('output').textContent.includes('?'), undefined, { timeout: 60_000 });
      await found.dispose();
      return page.textContent('output');
    });
    assert.equal(result, "Where's my book?");
  });
}
