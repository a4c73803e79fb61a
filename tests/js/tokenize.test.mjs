// Tokens of texts, without a translation.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Translator } from '../../dist/index.js';
import { Engine } from '../../dist/worker/engine.js';
import { fixtureBytes, fixturePath, sentences } from './support.mjs';

const bundled = fileURLToPath(new URL('../../web/public/models/de-en.safetensors', import.meta.url));
let translator, keeping;
before(async () => {
  translator = await Translator.load(fixturePath);
  keeping = await Translator.load(bundled, { shareWith: translator });
});
after(() => {
  keeping.dispose();
  translator.dispose();
});

const difficult = [...sentences, '', '   ', 'WO IST MEIN BUCH?', '😀 Gut\uD83D', 'Siehe https://a.de/b und 1.500,50 €.', '** „Ja!“ **'];

test('tokenize: the tokens are those that a translation reads', async () => {
  for (const model of [translator, keeping]) {
    const expected = (await model.translate(difficult)).map(({ sourceTokens }) => sourceTokens);
    assert.deepEqual(await model.tokenize(difficult), expected);
    assert.deepEqual(await model.tokenize(difficult[0]), expected[0]);
    assert.deepEqual(await model.countTokens(difficult), expected.map(({ length }) => length));
    assert.equal(await model.countTokens(difficult[2]), expected[2].length);
  }
  assert.deepEqual(await translator.tokenize([]), []);
  assert.deepEqual(await translator.countTokens([]), []);
});

test('tokenize: keep has the meaning that it has in translate', async () => {
  const text = 'Siehe https://example.org/eine/lange/Adresse?mit=vielen&Zeichen=1 im Netz.';
  const kept = await keeping.countTokens(text);
  for (const keep of [false, ['url'], [/Netz/]]) {
    const { sourceTokens } = await keeping.translate(text, { keep });
    assert.deepEqual(await keeping.tokenize(text, { keep }), sourceTokens, String(keep));
    assert.deepEqual(await keeping.tokenize(['Netz', text], { keep }), [(await keeping.translate('Netz', { keep })).sourceTokens, sourceTokens]);
  }
  assert.ok(await keeping.countTokens(text, { keep: false }) > kept + 10);
});

test('countTokens: a text that is too long to translate is counted', async () => {
  const long = `${sentences[2]} `.repeat(400);
  const one = await translator.countTokens(sentences[2]);
  const count = await translator.countTokens(long);
  assert.ok(count > 400 * (one - 2) && count <= 400 * one, `${count}`);
  const { code, details } = await translator.translate(long).catch((error) => error);
  assert.deepEqual([code, details.tokens], ['too-long', count]);
});

test('tokenize: many texts keep their order, and an abort ends the call', async () => {
  const many = Array.from({ length: 300 }, (_, i) => `${sentences[i % sentences.length]} ${i}`);
  const counts = await translator.countTokens(many);
  assert.deepEqual(counts, (await translator.tokenize(many)).map(({ length }) => length));
  assert.equal(counts[299], await translator.countTokens(many[299]));
  const stop = new AbortController();
  const reason = new Error('enough');
  const call = translator.countTokens(many, { signal: stop.signal });
  stop.abort(reason);
  await assert.rejects(call, reason);
  await assert.rejects(translator.tokenize([], { signal: stop.signal }), reason);
});

test('tokenize: other options and other texts are refused', async () => {
  await assert.rejects(translator.tokenize('ja', { beamSize: 2 }), { code: 'unknown-option' });
  await assert.rejects(translator.countTokens('ja', { keep: 'url' }), { name: 'TypeError' });
  await assert.rejects(translator.countTokens(['ja', 5]), { message: '[tokenize] text 2 must be a string, not 5' });
});

test('tokenize: an engine gives the same at once', async () => {
  const engine = await Engine.create();
  const here = engine.load(fixtureBytes());
  assert.deepEqual(here.tokenize(difficult), await translator.tokenize(difficult));
  assert.deepEqual(here.countTokens(difficult), await translator.countTokens(difficult));
  assert.equal(here.countTokens(sentences[0]), here.tokenize(sentences[0]).length);
  assert.throws(() => here.countTokens('ja', { signal: new AbortController().signal }), /signal cannot abort/);
  here.dispose();
  const other = engine.load(new Uint8Array(readFileSync(bundled)));
  const { sourceTokens } = other.translate(difficult[9], { keep: [/€/] });
  assert.deepEqual(other.tokenize(difficult[9], { keep: [/€/] }), sourceTokens);
  other.dispose();
});
