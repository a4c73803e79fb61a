// What the tests of the package share: the small fixture model, a web server, and sentences.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

export const fixture = new URL('../fixtures/tiny-de-en.safetensors', import.meta.url);
export const fixturePath = fileURLToPath(fixture);
export const fixtureBytes = () => new Uint8Array(readFileSync(fixture));

export const sentences = [
  'Ich habe einen Hund.',
  'Wo ist der Bahnhof?',
  'Sie liest jeden Abend ein Buch, wenn die Kinder schlafen.',
  'Danke!',
  'Das Wetter ist heute schön, aber morgen soll es regnen.',
];

export const close = (actual, expected, limit) =>
  assert.ok(Math.abs(actual - expected) <= limit, `${actual} is not within ${limit} of ${expected}`);

/** Listens until the test ends; returns the address without a slash at its end. */
export async function serve(test, answer) {
  const server = createServer(answer);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  test.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}`;
}

/** Calls `body` with a translator of the fixture, and disposes of it. */
export async function withTranslator(body) {
  const { Translator } = await import('../../dist/index.js'); // here, for files that choose the platform first
  const translator = await Translator.load(fixturePath);
  try {
    await body(translator);
  } finally {
    translator.dispose();
  }
}
