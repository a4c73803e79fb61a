// Alignments and quality, pivots, the cache of sentences, and markup through a real model.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { Translator } from '../../dist/index.js';
import { cached, joinSentence, joint, pivot, split, splitSentences } from '../../dist/webpages/index.js';
import { addTo } from '../../dist/shared/alignment.js';
import { sentenceWordsFile } from '../../bindings/tools/generate-sentences.mjs';
import { aligned, html } from './support-pages.mjs';
import { close, fixturePath, sentences } from './support.mjs';

let translator;
before(async () => {
  translator = await Translator.load(fixturePath);
});
after(() => translator.dispose());

const spelling = (pieces) => pieces.replaceAll('▁', '');

test('an alignment has token positions, and source token probabilities for each target token', async () => {
  const all = await translator.translate(sentences, { alignment: true });
  for (const [i, { text, alignment, sourceTokens, targetTokens, attention }] of all.entries()) {
    assert.equal(attention, undefined, 'only with attention: true');
    for (const [tokens, ranges, whole] of [[sourceTokens, alignment.source, sentences[i]], [targetTokens, alignment.target, text]]) {
      assert.equal(ranges.length, tokens.length);
      ranges.forEach(({ start, end }, k) => {
        const piece = tokens[k].piece;
        if (!/^<|⁇/.test(piece)) assert.equal(whole.slice(start, end).normalize('NFKC'), spelling(piece), `${piece} in ${whole}`);
      });
      assert.equal(ranges.at(-1).start, ranges.at(-1).end, 'the end token');
    }
    const columns = sourceTokens.length;
    for (let row = 0; row < targetTokens.length; row++) {
      close(alignment.data.subarray(row * columns, (row + 1) * columns).reduce((a, b) => a + b), 1, 1e-4);
    }
  }
  const [first] = all;
  const both = await translator.translate(sentences[0], { alignment: true, attention: true });
  assert.deepEqual(both.alignment.source, first.alignment.source);
  const { rows, columns, layers, heads, data } = both.attention.cross;
  const unused = layers > 1 ? heads : 0; // maps of the first layer
  for (let at = 0; at < rows * columns; at++) {
    let sum = 0;
    for (let map = unused; map < layers * heads; map++) sum += data[map * rows * columns + at];
    close(both.alignment.data[at], sum / (layers * heads - unused), 1e-5);
  }
  assert.deepEqual((await translator.translate('', { alignment: true })).alignment.source, []);
});

test('unusual characters do not shift the positions of later ones', async () => {
  const text = 'Ich sehe 😀😀 ﬁve  und ½ Hund—e\u0301 Straße.';
  const { alignment, sourceTokens } = await translator.translate(text, { alignment: true });
  const at = (word) => alignment.source.findIndex(({ start }) => start === text.indexOf(word));
  for (const word of ['Ich', 'sehe', 'Stra']) assert.ok(at(word) >= 0 && spelling(sourceTokens[at(word)].piece) !== '', word);
  alignment.source.forEach(({ start, end }, i, all) => {
    assert.ok(start <= end && end <= text.length && (i === 0 || start >= all[i - 1].start), `${i}`);
  });
});

test('quality: mean log-probabilities of words and of the sentence', async () => {
  const { text, quality, targetTokens } = await translator.translate(sentences[2], { quality: true });
  assert.deepEqual(quality.words.map(({ start, end }) => text.slice(start, end)), text.split(' '));
  assert.equal(quality.sentence, quality.logProbability); // its old name
  close(quality.logProbability, quality.words.reduce((sum, word) => sum + word.logProbability, 0) / quality.words.length, 1e-6);
  assert.ok(quality.words.every(({ logProbability }) => logProbability <= 0));
  const second = targetTokens.findIndex(({ piece }, i) => i > 0 && piece.startsWith('▁'));
  const first = targetTokens.slice(0, second).map(({ logProbability }) => logProbability);
  close(quality.words[0].logProbability, first.reduce((a, b) => a + b) / first.length, 1e-6);
});

test('a character spelled by bytes is one word or a part of one, and U+FFFD do not shift what follows', () => {
  const bytes = (text) => Array.from(Buffer.from(text), (byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
  const wordsOf = (text, pieces) => {
    const translation = { text, kept: [], targetTokens: [...pieces, '</s>'].map((piece, i) => ({ piece, logProbability: -i })) };
    addTo([translation], [''], { quality: true }, false, {});
    return translation.quality.words.map(({ start, end, logProbability }) => [text.slice(start, end), logProbability]);
  };
  assert.deepEqual(wordsOf('我把鹅寄', ['▁', '我', '把', ...bytes('鹅'), '寄']), [['我', -0.5], ['把', -2], ['鹅', -4], ['寄', -6]]);
  assert.deepEqual(wordsOf('鹅竹肖', ['▁', ...bytes('鹅竹肖')]).map(([word]) => word), ['鹅', '竹', '肖']);
  assert.deepEqual(wordsOf('São Pãulo 🙂!', ['▁S', ...bytes('ã'), 'o', '▁P', ...bytes('ã'), 'ulo', '▁', ...bytes('🙂'), '!']).map(([word]) => word),
    ['São', 'Pãulo', '🙂!']);
  // SentencePiece writes a U+FFFD for each byte that belongs to no character.
  assert.deepEqual(wordsOf('a\ufffd\ufffd\ufffd b c', ['▁a', '<0xE9>', '<0xB9>', '<0xFF>', '▁b', '▁c']).map(([word]) => word),
    ['a\ufffd\ufffd\ufffd', 'b', 'c']);
  assert.deepEqual(wordsOf('\ufffd\ufffd鹅 x', ['▁', '<0xB9>', '<0xE9>', ...bytes('鹅'), '▁x']).map(([word]) => word), ['\ufffd\ufffd', '鹅', 'x']);
});

test('word probabilities use the calibration stored in the model', async () => {
  assert.equal('probability' in (await translator.translate(sentences[2], { quality: true })).quality, false, 'it has none');
  const file = Buffer.from(readFileSync(fixturePath));
  const end = 8 + Number(file.readBigUInt64LE(0));
  const header = JSON.parse(file.subarray(8, end));
  header.__metadata__.quality_calibration = '2 0.5 1.5';
  const words = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(words.length));
  const calibrated = await Translator.load(new Uint8Array(Buffer.concat([length, words, file.subarray(end)])));
  try {
    const { quality } = await calibrated.translate(sentences[2], { quality: true });
    for (const { logProbability: x, probability } of quality.words)
      close(Math.log(probability / (1 - probability)), 2 * x - 0.5 * Math.log(1 - Math.exp(x)) + 1.5, 1e-6);
    close(quality.probability, quality.words.reduce((sum, word) => sum + word.probability, 0) / quality.words.length, 1e-9);
  } finally {
    calibrated.dispose();
  }
});

test('markup gets the words of the plain translations, and the quality of its sentences', async () => {
  const { text, sentences: found } = await translator.translate(
    `<h1>${sentences[0]}</h1>\n<p class=x>Wo <b>ist <i>der Bahnhof</i></b>? <a href="#">${sentences[2]}</a></p><script>x</script>`, { html: true, quality: true });
  const plain = await translator.translate(sentences.slice(0, 3));
  const letters = (words) => words.replace(/<script>.*<\/script>|<[^>]*>|\s/g, '');
  assert.equal(letters(text), letters(plain.map((one) => one.text).join('')));
  assert.match(text, /^<h1>[^<]+<\/h1>\n<p class=x>.*<script>x<\/script>$/s);
  for (const tag of ['<b>', '</b>', '<i>', '</i>']) assert.ok(text.includes(tag), tag);
  assert.equal(text.split('<a href="#">').length, 2);
  assert.deepEqual(found.map(({ source }) => source), sentences.slice(0, 3));
  assert.ok(found.every(({ quality }) => quality.logProbability < 0));
  assert.equal((await translator.translate('a', { html: false })).text, (await translator.translate('a')).text);
  const long = `<p>${sentences[0]}</p><p>${'😀'.repeat(400)}ä</p>`;
  assert.ok((await translator.translate(long, { html: true })).text.includes('😀'.repeat(100)), 'what is too long for the model stays');
});

test('markup must be a string, takes no single-sentence options, and can be aborted', async () => {
  await assert.rejects(translator.translate('<p>', { html: 'yes' }), /html must be true or false, not 'yes'/);
  await assert.rejects(translator.translate('<p>a</p>', { html: true, onToken: () => {} }), /onToken applies to one sentence only/);
  await assert.rejects(translator.translate(['<p>'], { html: true }), /markup must be a string, not an array/);
  await assert.rejects(translator.translate('<p>Hallo</p>', { html: true, beamSise: 2 }), /beamSise/);
  await assert.rejects(translator.translate('<p>Hallo</p>', { html: true, signal: AbortSignal.abort(new Error('enough')) }), /enough/);
  await assert.rejects(translator.translate('a', { alignment: 1 }), /alignment must be true or false/);
  await assert.rejects(html('<p>a b</p>', { info: {}, translate: async () => { throw new Error('broken'); } }), /broken/);
});

const model = (languages, entries) => ({
  info: { languages }, translate: async (texts) => texts.map((source) => aligned(source, entries[source].split(' ').map((item) => {
    const [part, from] = item.split('|');
    return { part, from: Number(from) };
  }))),
});

test('a pivot translates through a third language, and combines the alignments', async () => {
  const first = model('de-en', { 'rotes Haus dort': 'there|2 red|0 house|1' });
  const second = model('en-fr', { 'there red house': 'maison|2 rouge|1 là|0' });
  const both = pivot(first, second);
  assert.equal(both.info.languages, 'de-fr');
  const { text, via, alignment } = await both.translate('rotes Haus dort', { alignment: true });
  assert.deepEqual([text, via.text], ['maison rouge là', 'there red house']);
  assert.deepEqual([...alignment.data], [0, 1, 0, 1, 0, 0, 0, 0, 1]);
  assert.equal((await both.translate('<p><b>rotes</b> <i>Haus</i> dort</p>', { html: true })).text, '<p><i>maison</i> <b>rouge</b> là</p>');
  await assert.rejects(both.translate('rotes Haus dort', { glossary: [] }), { message: '[pivot] a glossary belongs to one model, and here are two' });
  await assert.rejects(both.translate('rotes Haus dort', { prefix: 'là' }), { message: '[pivot] prefix applies to one sentence only, and has no meaning for two models' });
  assert.throws(() => pivot(first, first), /translates into 'en', but the second reads 'de'/);
  // A token of the second model over two of the first takes of both, by their lengths.
  const one = { info: {}, translate: async () => [{ text: 'abcd', alignment: { source: [{ start: 0, end: 1 }, { start: 1, end: 2 }],
    target: [{ start: 0, end: 1 }, { start: 1, end: 4 }], data: Float32Array.of(1, 0, 0, 1) } }] };
  const [from, to] = [[{ start: 0, end: 4 }], [{ start: 0, end: 1 }]];
  const two = { info: {}, translate: async () => [{ text: 'x', alignment: { source: from, target: to, data: Float32Array.of(1) } }] };
  assert.deepEqual([...(await pivot(one, two).translate('ab', { alignment: true })).alignment.data], [0.25, 0.75]);
  const nameless = { info: {}, translate: (...given) => translator.translate(...given) };
  const real = await pivot(nameless, nameless).translate(sentences.slice(0, 2), { alignment: true, quality: true });
  assert.equal(real[0].via.text, (await translator.translate(sentences[0])).text);
  assert.equal(real[0].text, (await translator.translate(real[0].via.text)).text);
  for (const { alignment } of real) {
    const columns = alignment.source.length;
    for (let row = 0; row < alignment.target.length; row++) {
      close(alignment.data.subarray(row * columns, (row + 1) * columns).reduce((a, b) => a + b), 1, 1e-3);
    }
  }
});

test('a cache translates each sentence once, and drops the least recently used', async () => {
  const asked = [];
  const source = { info: { languages: 'de-en' }, translate: async (texts) => (asked.push(...texts), texts.map((text) => ({ text: text.toUpperCase() }))) };
  const cache = cached(source, { bytes: 1000 });
  assert.deepEqual((await cache.translate(['a', 'b', 'a'])).map(({ text }) => text), ['A', 'B', 'A']);
  assert.equal((await cache.translate('a')).text, 'A');
  assert.deepEqual(asked, ['a', 'b']);
  await cache.translate('a', { alignment: true });
  assert.deepEqual(asked, ['a', 'b', 'a'], 'other options give other results');
  for (let i = 0; i < 50; i++) {
    await cache.translate(`sentence ${i}`);
    await cache.translate('a');
    assert.ok(cache.bytes > 0 && cache.bytes <= 1000, `${cache.bytes}`);
  }
  assert.equal(asked.filter((text) => text === 'a').length, 2, 'what is used stays');
  await cache.translate('b');
  assert.equal(asked.at(-1), 'b', 'what is not used goes');
  await cache.translate('x'.repeat(1000));
  assert.ok(cache.bytes <= 1000);
  cache.clear();
  assert.equal(cache.bytes, 0);
  const before = asked.length;
  for (const keep of [[/a/], [/b/], [/b/i], [/b/]]) await cache.translate('a', { keep });
  assert.equal(asked.length - before, 3, 'other regular expressions give other results');
  await assert.rejects(cache.translate('a', { onToken: () => {} }), /onToken/);
  assert.equal((await cache.translate('a', { onToken: undefined })).text, 'A');
  assert.equal(await html('<p>a b</p>', undefined, { prefix: undefined }), '<p>a b</p>');
  assert.throws(() => cached(source, { bytes: -1 }), /bytes must be a whole number/);
  assert.throws(() => cached(source, {}), /bytes is missing/);
  const kept = cached(translator, { bytes: 1e6 });
  const markup = `<p>${sentences[0]} <b>${sentences[1]}</b></p>`;
  const { text } = await translator.translate(markup, { html: true });
  assert.equal((await kept.translate(markup, { html: true })).text, text);
  const size = kept.bytes;
  assert.equal((await kept.translate(markup, { html: true })).text, text);
  assert.equal(kept.bytes, size);
});

test('a text is split into sentences as on the page', () => {
  assert.deepEqual([split, joint], [splitSentences, joinSentence]); // their old names
  assert.deepEqual(splitSentences('Am 3. Mai. Und?', 'de', 100).parts.map(({ source }) => source), ['Am 3. Mai.', 'Und?']);
  for (const text of ['Siehe https://example.org/?q=1!', 'An info@example.org?subject=Hallo bitte.', 'Wenn a?.b leer ist.', 'Öffne /tmp/a!b/c.txt jetzt.', 'Sag `Was? Nein` dazu.']) {
    assert.deepEqual(splitSentences(text, 'de').parts.map(({ source }) => source), [text]);
  }
  assert.deepEqual(splitSentences('Hallo!Wie geht es? Gut.', 'de').parts.map(({ source }) => source), ['Hallo!', 'Wie geht es?', 'Gut.']);
  const cut = (text, most) => splitSentences(text, 'zh', most).parts.map(({ source }) => source);
  assert.deepEqual(cut(`${'漢'.repeat(5)}，${'漢'.repeat(9)}`, 11), [`${'漢'.repeat(5)}，`, '漢'.repeat(9)]);
  for (const most of [2, 9, 10]) assert.ok(cut('😀'.repeat(20), most).every((part) => part.isWellFormed()), `${most}`);
});

test('sentences go on after abbreviations, and end where a number, an initial or a quotation ends them', () => {
  const cases = {
    de: ['Es kostet 5 Mio. Euro.', 'Tel. 030 123', 'Er wohnt in der Hauptstr. 5.', 'Die Fa. Müller GmbH & Co. KG ist alt.', 'Ich bin 30.|Du bist 20.',
      'Er kam auf Platz 2.|Sie auf Platz 1.', 'Am 3. Mai, am 24. 12. und vom 1.–3. Juni war frei.', 'Das kostet inkl. Mehrwertsteuer 5 Euro, d. h. Prof. Dr. Kurz zahlt.',
      '1. Das ist gut.', 'Das ist ein Test.|Peter kommt.', 'Cäsar starb 44 v. Chr. in Rom.|Das war im März.', 'Er heißt J. R. Meier.|Wir nennen ihn J.',
      '»Ja.«|Er ging.|»Nein.«', '„Ja!“ sagte er.', 'Wir haben Mehl, Eier usw.|Das reicht.'],
    en: ['Gen. Lee met Rev. King.', 'My grade is 5.|Yours is 3.', 'The price is $5.50.|Buy it now.', 'I like A.|It is good.', 'Mr. Smith met J. S. Bach at 10 a.m. on Sept. 5.',
      'She came in.|He went up.', 'I am 7.|Tom is 9.', 'They live in the U.S.|They like it.', 'I told Joe.|She knew.'],
    fr: ['Mme. Curie est née en 1867.', 'En 50 av. J.-C. César vint.', 'Il dit : « Non. »|Puis il part.', '« Oui. |Non. »|Elle sourit.', '« Non. » dit-il.',
      'J’en ai 5.|Paul en a 3.', 'M. Dupont arrive.', 'Elle a dit « oui ».|Et « non ! »|Bien.'],
    cs: ['Je 3. května.'],
  };
  for (const [language, texts] of Object.entries(cases)) {
    for (const marked of texts) {
      const wanted = marked.split('|').map((part) => part.trim());
      assert.deepEqual(splitSentences(wanted.join(' '), language).parts.map(({ source }) => source), wanted);
    }
  }
});

test('the words in bindings/js/generated are those of Unicode and of the pairs', () => {
  const written = readFileSync(new URL('../../bindings/js/generated/sentence-words.ts', import.meta.url), 'utf8');
  assert.equal(written, sentenceWordsFile());
});

test('a text without spaces is cut to fit the model', async () => {
  const { max_length } = translator.info.config;
  for (const character of 'aä漢') {
    const { sentences: found } = await translator.translateText(character.repeat(3 * max_length));
    assert.ok(found.length > 2 && found.every(({ translation }) => translation.sourceTokens.length <= max_length));
  }
});
