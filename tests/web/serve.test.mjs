// The server of the page: a download that breaks off costs nothing, and a file that cannot be read ends no server.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { precompress } from '../../bindings/tools/precompress.mjs';
import { pageHeaders, serve } from '../../web/serve.mjs';

async function withServer(t, folder, headers) {
  const { server, address } = await serve(folder, 0, headers);
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return address;
}

const files = () => readdirSync('/proc/self/fd').length;

test('interrupted downloads leave no file open', { skip: process.platform !== 'linux' }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'wasmformer-serve-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'large'), Buffer.alloc(2e7));
  const address = await withServer(t, folder);
  const before = files();
  for (let i = 0; i < 40; ++i) {
    const asked = request(`${address}large`).on('error', () => {});
    asked.end();
    const [response] = await once(asked, 'response');
    await once(response, 'data');
    response.on('error', () => {}).destroy();
  }
  for (let i = 0; i < 50 && files() > before + 4; ++i) await setTimeout(100);
  assert.ok(files() <= before + 4, `${before} files were open, and now ${files()}`);
});

test('an unreadable file ends its response, not the server', { skip: process.platform !== 'linux' }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'wasmformer-serve-'));
  t.after(() => rmSync(folder, { recursive: true }));
  symlinkSync('/proc/self/mem', join(folder, 'broken')); // reading its beginning is an error, for root too
  writeFileSync(join(folder, 'whole'), 'whole');
  const address = await withServer(t, folder);
  await fetch(`${address}broken`).then((response) => response.text()).catch(() => {});
  assert.equal(await (await fetch(`${address}whole`)).text(), 'whole');
  assert.equal((await fetch(`${address}nothing`)).status, 404);
});

test('files have compressed copies, which browsers get that take them', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'wasmformer-serve-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const texts = { 'page.css': 'main { color: green }\n'.repeat(1000), 'noise.bin': randomBytes(20_000) };
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text);
  await precompress(folder);
  assert.deepEqual(readdirSync(folder).sort(), ['noise.bin', 'page.css', 'page.css.br', 'page.css.gz']);

  const address = await withServer(t, folder);
  const decoders = { br: brotliDecompressSync, gzip: gunzipSync };
  const offers = [['gzip, deflate, br', 'br'], ['gzip', 'gzip'], ['br;q=0, gzip;q=0.5', 'gzip'], ['identity', undefined]];
  for (const [offer, encoding] of offers) {
    const asked = request(`${address}page.css`, { headers: { 'Accept-Encoding': offer } });
    asked.end();
    const [response] = await once(asked, 'response');
    const bytes = Buffer.concat(await response.toArray());
    assert.equal(response.headers['content-encoding'], encoding, offer);
    assert.equal(response.headers['content-type'], 'text/css; charset=utf-8');
    assert.equal(response.headers.vary, 'Accept-Encoding');
    assert.equal(Number(response.headers['content-length']), bytes.length);
    assert.equal(String(decoders[encoding]?.(bytes) ?? bytes), texts['page.css']);
  }
  utimesSync(join(folder, 'page.css'), new Date(), new Date(Date.now() + 60_000));
  assert.equal((await fetch(`${address}page.css`)).headers.get('content-encoding'), null, 'a copy of an earlier file');
  const noise = await fetch(`${address}noise.bin`);
  assert.equal(noise.headers.get('content-encoding'), null);
  assert.deepEqual(Buffer.from(await noise.arrayBuffer()), texts['noise.bin']);
});

test('a file is served while others are being compressed', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'wasmformer-serve-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const count = 60;
  for (let i = 0; i < count; ++i) writeFileSync(join(folder, `${i}.txt`), randomBytes(100_000).toString('hex'));
  writeFileSync(join(folder, 'page.html'), 'page');
  const address = await withServer(t, folder);
  const compressed = precompress(folder);
  const copies = () => readdirSync(folder).filter((name) => name.endsWith('.br')).length;
  while (copies() === 0) await setTimeout(1);
  assert.equal(await (await fetch(`${address}page.html`)).text(), 'page');
  const ready = copies();
  await compressed;
  // The page waits for a few files at most; without a limit it waits for nearly all.
  assert.ok(ready < count / 2, `${ready} of ${count} files were compressed before a page was sent`);
});

test('the security policy is sent as a header', async (t) => {
  const address = await withServer(t, import.meta.dirname, pageHeaders);
  const { headers } = await fetch(`${address}serve.test.mjs`);
  assert.match(headers.get('Content-Security-Policy'), /default-src 'none'.*frame-ancestors 'self'/);
});
