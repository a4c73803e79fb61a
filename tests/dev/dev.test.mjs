// The server of `npm run dev`: the page and the package from their sources, one module, the headers that threads need.
import assert from 'node:assert/strict';
import { register } from 'node:module';
import { after, before, test } from 'node:test';
import { startDevelopment } from '../../bindings/tools/dev.mjs';

// A fresh clone has no built package, so nothing may import it.
register(`data:text/javascript,${encodeURIComponent(`
export async function resolve(name, context, next) {
  const found = await next(name, context);
  if (found.url.startsWith(${JSON.stringify(new URL('../../dist/', import.meta.url).href)})) throw new Error('dist is not there');
  return found;
}`)}`);

let server;
const get = async (path) => {
  const response = await fetch(new URL(path, server.resolvedUrls.local[0]));
  return { response, text: await response.text() };
};
before(async () => (server = await startDevelopment({ port: 0 })));
after(() => server.close());

test('the page is served from its sources, isolated', async () => {
  const { response, text } = await get('/');
  assert.match(text, /src="\.\/src\/main\.ts"/);
  assert.equal(response.headers.get('cross-origin-opener-policy'), 'same-origin');
  assert.equal(response.headers.get('cross-origin-embedder-policy'), 'require-corp');
});

test("the page's scripts import the package's TypeScript", async () => {
  const { text } = await get('/src/models/models.svelte.ts');
  const [, path] = text.match(/from "([^"]*\/bindings\/js\/index\.ts[^"]*)"/);
  assert.equal((await get(path)).response.status, 200);
});

test('the page needs no built package', async () => {
  const { response } = await get('/@id/__x00__virtual:search-width');
  assert.equal(response.status, 200);
  assert.ok((await server.ssrLoadModule('virtual:search-width')).default > 0);
});

test('the module and its script are served', async () => {
  const { config } = server;
  const place = `/@fs${config.root}/../bindings/js/wasm`.replace(/\/[^/]+\/\.\.\//, '/');
  for (const name of ['relaxed-threads', 'relaxed']) {
    const script = await get(`${place}/${name}/wasmformer.mjs`);
    assert.match(script.response.headers.get('content-type'), /javascript/);
    const wasm = await fetch(new URL(`${place}/${name}/wasmformer.wasm`, server.resolvedUrls.local[0]));
    assert.equal(wasm.headers.get('content-type'), 'application/wasm');
    assert.deepEqual([...new Uint8Array(await wasm.arrayBuffer())].slice(0, 4), [0, 97, 115, 109]);
  }
});

test('the options are those that the module describes', async () => {
  const { options } = await server.ssrLoadModule('wasmformer/options');
  assert.ok(options.translate.some(({ name }) => name === 'beamSize'));
});
