// The custom element as a file of the package; tests/e2e/element.test.mjs has it in a page.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { brotliCompressSync } from 'node:zlib';

const script = new URL('../../dist/attention.js', import.meta.url);

test('importing the element on a server is harmless', async () => {
  const { AttentionElement } = await import(script);
  assert.equal(typeof AttentionElement, 'function');
});

test('the element needs no other file, and is at most 25 KB after brotli', () => {
  const text = readFileSync(script, 'utf8');
  assert.doesNotMatch(text, /\bimport\b|new URL\(/);
  const size = brotliCompressSync(text).length;
  assert.ok(size <= 25_000, `${size} bytes`);
});
