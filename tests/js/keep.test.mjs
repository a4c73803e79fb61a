// What is copied instead of translated: `keep` and `kept`, with a bundled model.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Translator } from '../../dist/index.js';

const bundled = new URL('../../web/public/models/de-en.safetensors', import.meta.url);

let translator;
before(async () => {
  translator = await Translator.load(bundled);
});
after(() => translator.dispose());

const kinds = ({ kept }) => kept.map(({ kind }) => kind);
const isConsistent = (text, translation) => {
  for (const { source, target } of translation.kept) {
    assert.equal(text.slice(source.start, source.end), source.text);
    assert.equal(translation.text.slice(target.start, target.end), target.text);
  }
};

test('signs around a text change nothing in its translation, and `kept` tells where they stand', async () => {
  const plain = await translator.translate('Guten Morgen');
  assert.deepEqual(plain.kept, []);
  for (const [before, after] of [['😀 ', ''], ['', ' 👍🏽'], ['# ', ''], ['**', '**'], ['[', ']'], ['→ ', ' ✓'], ['2. ', ''], ['', ' ❤️'], ['', ' 🇩🇪']]) {
    const text = `${before}Guten Morgen${after}`;
    const found = await translator.translate(text);
    assert.equal(found.text, `${before}${plain.text}${after}`);
    isConsistent(text, found);
    assert.ok(found.kept.length > 0);
  }
  assert.equal((await translator.translate('»Guten Morgen«')).text, `“${plain.text}”`);
});

test('signs alone are copied', async () => {
  const signs = ['...', '😀', '→ ✓', '„“', '???'];
  for (const [i, { text }] of (await translator.translate(signs)).entries()) assert.equal(text, signs[i]);
});

test('what is inside a sentence stands in its translation once', async () => {
  const texts = ['Der Server hat die Adresse 192.168.0.1 und ist schnell.', 'Schreibe bitte an info@example.org heute noch.'];
  for (const [i, found] of (await translator.translate(texts, { keep: ['url'] })).entries()) {
    assert.deepEqual(kinds(found), ['url']);
    isConsistent(texts[i], found);
    assert.equal(found.text.split(found.kept[0].target.text).length, 2);
  }
});

test('numbers are written as the target language does', async () => {
  const { text, kept } = await translator.translate('Das kostet 1.234.567,89 Euro.', { keep: ['number'] });
  assert.equal(kept[0].target.text, '1,234,567.89');
  assert.ok(text.includes('1,234,567.89'));
});

test('words in a script that the model cannot read are copied, of any length', async () => {
  const russian = 'привет мир '.repeat(60).trim();
  const { text, kept } = await translator.translate(`Guten Morgen! ${russian}`);
  assert.equal(text.split(russian).length, 2);
  assert.deepEqual(kept.map(({ kind }) => kind), ['script']);
});

test('`keep: false` leaves the text to the model, and names and regular expressions choose', async () => {
  const text = '😀 Guten Morgen, Anna Blume';
  assert.deepEqual((await translator.translate(text, { keep: false })).kept, []);
  assert.deepEqual(kinds(await translator.translate(text, { keep: ['emoji'] })), ['emoji']);
  const own = await translator.translate(text, { keep: [/Anna \p{L}+/u] });
  assert.deepEqual(own.kept.map(({ kind, target }) => [kind, target.text]), [['own', 'Anna Blume']]);
  isConsistent(text, own);
  for (const pattern of [/[^\x00-\x7f]/, /😀/u]) { // with the flag u or without, a pair of surrogates is one character
    assert.deepEqual((await translator.translate(text, { keep: [pattern] })).kept.map(({ source }) => source.text), ['😀']);
  }
  for (const pattern of [/x*/, /nichts/]) assert.deepEqual((await translator.translate(text, { keep: [pattern] })).kept, []);
  assert.equal((await translator.translate(text, { keep: [/.+/s] })).text, text);
});

test('an address with signs that end sentences is one kept span in a whole text, too', async () => {
  const address = 'https://example.org/suche?q=1&l=de';
  const { text, sentences } = await translator.translateText(`Mehr steht unter ${address} bereit. Guten Morgen!`);
  assert.ok(text.includes(address), text);
  assert.equal(sentences.length, 2);
});

test('a forced prefix and tokens turn it off; wrong values are refused', async () => {
  assert.deepEqual((await translator.translate('😀 Guten Morgen', { prefix: 'Good' })).kept, []);
  await assert.rejects(translator.translate('a', { keep: 'url' }), /keep must be false or an array/);
  await assert.rejects(translator.translate('a', { keep: ['links'] }), /keep/);
});

test('partial texts, alternatives and several sentences at once have what is kept', async () => {
  const partial = [];
  const found = await translator.translate('😀 Das Haus ist groß.', { nBest: 3, onPartial: (text) => partial.push(text) });
  assert.ok(partial.length > 1 && partial.every((text) => text.startsWith('😀 ')));
  assert.ok(found.alternatives.length === 2 && found.alternatives.every(({ text }) => text.startsWith('😀 ')));
  const many = await translator.translate(['✓ Ja', 'Nein', 'Ja ✓']);
  assert.deepEqual(many.map(({ kept }) => kept.length), [1, 0, 1]);
});
