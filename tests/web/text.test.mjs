// What the page makes of texts: their language, sentences, words and changes, how sure the model was, how long training takes.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { loadDetector } from '../../dist/detect/index.js';
import { everydaySentences } from '../../web/models/detect/evaluate.mjs';
import { load } from './load.mjs';

const detector = await loadDetector(new URL('../../bindings/detect-model/detect.safetensors', import.meta.url));

test("a text's language is detected from its letters and words, and never guessed", async () => {
  const { otherLanguage } = await load('translate/other-language.ts');
  const texts = {
    'I want to go home because I am tired.': 'en', 'Where is the station?': 'en', 'Ich möchte nach Hause gehen.': 'de',
    'Wo ist mein Buch?': 'de', 'Je ne sais pas où il est.': 'fr', '我们为什么工作？': 'zh', '私は学生です。': 'ja',
    'Это мой дом.': 'ru', 'Attention Is All You Need': 'en', 'Paris, Berlin, Tokyo': null, '': null, '12:30 😀': null,
    // Short ones, names and other languages.
    'Bonjour, je suis très content de vous voir.': 'fr', 'Le chat est dans la maison avec les enfants.': 'fr', Ja: null,
    'Beyoncé and the café': 'en', 'Müller is in the garden with you.': 'en', ok: null, Anna: null, asdf: null,
    'Zażółć gęślą jaźń, to nie jest dom': 'pl', 'Nie wiem, gdzie jest Łódź.': 'pl', 'Jag är från Malmö.': 'sv',
    'El hombre que vive en la casa no es mi padre.': 'es', 'Ik weet niet waar het boek is.': 'nl', 'Hvad hedder du?': 'da',
    'Ich heiße Zoë und wohne mit André in Köln.': 'de', 'das Café': null, 'Guten Morgen': 'de', 'How are you?': 'en',
    // Similar languages: one of them is named.
    'Jeg kan ikke komme i dag.': 'da', 'Hola, ¿cómo estás hoy?': 'es', 'Saya tidak bisa datang hari ini.': 'id',
    // A word in other letters is enough; both kinds of Chinese are one language here.
    你好: 'zh', 谢谢: 'zh', '最近的車站在哪裡？': 'zh', Привет: 'ru',
  };
  for (const [text, language] of Object.entries(texts)) {
    for (const expected of ['de', 'en', 'fr', 'zh']) {
      const other = language === expected ? null : language;
      assert.equal(otherLanguage(text, expected, detector.detect(text)), other, `${text} for a model of ${expected}`);
    }
  }
});

test('every example is in the language it is listed under', async () => {
  const [{ otherLanguage }, { examples }] = await load(['translate/other-language.ts', 'translate/examples.ts']);
  for (const [language, sentences] of Object.entries(examples)) {
    const other = language === 'de' ? 'en' : 'de';
    for (const sentence of sentences) {
      assert.equal(otherLanguage(sentence, other, detector.detect(sentence)), language, sentence);
      assert.equal(otherLanguage(sentence, language, detector.detect(sentence)), null, sentence);
    }
  }
});

test('while a sentence is typed, it is hardly ever taken for one of another language', async () => {
  const { otherLanguage } = await load('translate/other-language.ts');
  let [typed, wrong] = [0, 0];
  for (const [language, sentences] of everydaySentences()) {
    const base = language.split('-')[0];
    for (const sentence of sentences.slice(0, 60)) {
      const beginnings = [...sentence].map((_, i, characters) => characters.slice(0, i + 1).join(''));
      typed += beginnings.length;
      wrong += beginnings.filter((text) => otherLanguage(text, base, detector.detect(text)) !== null).length;
    }
  }
  assert.ok(typed > 5000 && wrong <= 0.002 * typed, `${wrong} of ${typed}`);
});

test('the detector is fetched once, for a text of the visitor; without it, and for examples, nothing is said', async () => {
  const { TextLanguage } = await load('translate/text-language.svelte.ts');
  const english = 'I want to go home because I am tired.';
  let fetched = 0;
  const language = new TextLanguage(async () => {
    fetched += 1;
    return () => 'en';
  });
  for (const text of ['', ' ', 'Why do we work?']) await language.prepare(text);
  assert.deepEqual([fetched, language.other(english, 'de')], [0, null]);
  for (const text of ['I', english]) await language.prepare(text);
  assert.deepEqual([fetched, language.other(english, 'de'), language.other('Why do we work?', 'de')], [1, 'en', null]);
  const offline = new TextLanguage(() => Promise.reject(new TypeError('no connection')));
  await offline.prepare(english);
  assert.equal(offline.other(english, 'de'), null);
});

test('a translation is weak if its tokens are improbable on average, and each improbable token is marked', async () => {
  const { isUnsure, isWeak } = await load('translate/sureness.ts');
  const tokens = (...shares) => shares.map((share) => ({ logProbability: Math.log(share) }));
  assert.deepEqual(tokens(0.9, 0.36, 0.29, 0.01).map(isUnsure), [false, false, true, true]);
  assert.equal(isWeak(tokens(0.9, 0.95, 0.5, 0.95)), false, 'one doubt is not a bad translation');
  assert.equal(isWeak(tokens(0.8, 0.6, 0.5, 0.9)), true);
});

test("a visitor's terms are not taken for guesses of the model", async () => {
  const { ownTokens } = await load('translate/sureness.ts');
  const targetTokens = ['▁An', '▁old', '▁m', 'ate', '▁of', '▁the', '▁mat', '.', '</s>'].map((piece) => ({ piece, logProbability: -5 }));
  const pieces = (glossary) => ownTokens({ text: 'An old mate of the mat.', targetTokens }, glossary).map(({ piece }) => piece);
  assert.deepEqual(pieces([{ source: 'Freund', target: 'mate' }]), ['▁An', '▁old', '▁of', '▁the', '▁mat', '.', '</s>']);
  assert.equal(pieces(undefined).length, 9);
});

/** A translation whose tokens have these probabilities; each word is a token. */
const translationOf = (text, shares) => ({
  text,
  targetTokens: [...text.split(' ').map((word) => `▁${word}`), '</s>'].map((piece, i) => ({ piece, logProbability: Math.log(shares[i]) })),
});

test('only a translation with a word to color is called doubtful, and every doubtful word is colored', async () => {
  const { doubtOf, stretches } = await load('translate/sureness.ts');
  const plain = doubtOf(translationOf('I am a teacher', [0.5, 0.5, 0.5, 0.5, 0.5]));
  assert.deepEqual([plain.isWeak, plain.unsure.size], [false, 0], 'no word is below the limit');
  const atEnd = doubtOf(translationOf('I am', [0.5, 0.5, 0.01]));
  assert.deepEqual([atEnd.isWeak, atEnd.unsure.size], [false, 0], 'the end is not a word of the text');
  const wrong = translationOf('the race of the', [0.6, 0.2, 0.1, 0.6, 0.6]);
  const { isWeak, unsure } = doubtOf(wrong);
  assert.deepEqual([isWeak, ...unsure], [true, 1, 2]);
  const colored = stretches(wrong, unsure);
  assert.deepEqual(colored.filter((one) => one.isUnsure).map(({ text }) => text.trim()).join(' '), 'race of');
  assert.equal(colored.map(({ text }) => text).join(''), wrong.text);
});

test('source words that get hardly any attention in any layer are taken for left out, marks and the end never', async () => {
  const { omissions, sourceStretches } = await load('translate/omissions.ts');
  const pieces = ['▁We', '▁went', '▁yester', 'day', '.', '</s>'];
  const shown = (...layers) => ({
    source: 'We went yesterday.',
    sourceTokens: pieces.map((piece) => ({ piece })),
    targetTokens: ['▁On', '▁y', '</s>'].map((piece) => ({ piece })),
    attention: { cross: { layers: layers.length, heads: 1, rows: 3, columns: 6, data: Float32Array.from(layers.flat(2)) } },
  });
  const rows = [[0.8, 0.1, 0, 0, 0, 0.1], [0.1, 0.8, 0.02, 0.03, 0, 0.05], [0, 0, 0.5, 0.5, 0, 0]];
  const one = shown(rows);
  assert.deepEqual([...omissions(one)], [2, 3], 'what the end of the translation reads does not count');
  assert.equal(sourceStretches(one).filter(({ isOmitted }) => isOmitted).map(({ text }) => text).join(''), 'yesterday');
  const other = [rows[0], [0, 0.2, 0.7, 0.1, 0, 0], rows[2]];
  assert.deepEqual([...omissions(shown(rows, other))], [], 'another layer reads a part of the word');
});

test('the film shows evenly spaced snapshots, the first and last included, each once', async () => {
  const { frames } = await load('train/record.ts');
  assert.deepEqual(frames(0, 8), []);
  assert.deepEqual(frames(3, 8), [0, 1, 2]);
  assert.deepEqual(frames(60, 8), [0, 8, 17, 25, 34, 42, 51, 59]);
  for (let count = 1; count < 70; ++count) assert.equal(new Set(frames(count, 8)).size, Math.min(count, 8), count);
});

test('training German → English takes 10 to 20 times as long as reversing words', async () => {
  const { costOf, workOf } = await load('train/cost.ts');
  const times = workOf('de-en') / workOf('reverse');
  assert.ok(times > 10 && times < 20, `${times} times`);
  assert.ok(workOf('copy') > 0 && workOf('dates') > 0);
  // Measured in a tab with two threads: what is five times as large takes three to four times as long.
  const larger = costOf(1_184_208, 1024, 1) / costOf(235_678, 1024, 1);
  assert.ok(larger > 3 && larger < 4, `${larger} times`);
});

test("the page's own pairs are learned in a fixed number of steps, with a schedule that ends there", async () => {
  const { defaultsOf, shippedCount, wrongs } = await load('train/fields.ts');
  for (const data of ['de-en', 'en-de', 'fr-en', 'en-zh']) {
    const values = defaultsOf({ data, goal: 'steps' }, 0);
    assert.deepEqual([values.goal, values.schedule, values.decay_steps], ['steps', 'cosine', values.steps], data);
    assert.deepEqual(wrongs(values), {}, data);
    assert.equal(defaultsOf({ data, goal: 'minutes' }, 0).schedule, 'noam', 'whose end need not be known');
    const [source, target] = data.split('-');
    const file = new URL(`../../web/public/pairs/en-${source === 'en' ? target : source}.tsv.gz`, import.meta.url);
    const rows = gunzipSync(readFileSync(file)).toString().trimEnd().split('\n');
    const known = new Set(rows.slice(0, shippedCount(data)).map((row) => row.split('\t')[0]));
    const validation = rows.slice(shippedCount(data));
    assert.ok(known.size > 0.8 * shippedCount(data) && [250, 500].includes(validation.length), `${known.size}, ${validation.length}`);
    assert.ok(validation.every((row) => !known.has(row.split('\t')[0])), 'no validation row is among the training rows');
  }
});

test('a text is split into its parts and the text between them', async () => {
  const { cut, wordsOf, hues: huesOf } = await load('classify/parts.ts');
  const parts = [{ start: 3, end: 5, label: 'a' }, { start: 5, end: 6, label: 'b' }];
  assert.deepEqual(cut('xy ab!z', parts).map(({ text, part }) => [text, part?.label]), [['xy ', undefined], ['ab', 'a'], ['!', 'b'], ['z', undefined]]);
  assert.deepEqual(wordsOf('Hello, you').map(({ start, end }) => [start, end]), [[0, 5], [7, 10]]);
  const hues = [...huesOf(['b', 'a', 'b']).entries()];
  assert.deepEqual(hues.map(([name]) => name), ['a', 'b']);
  assert.notEqual(hues[0][1], hues[1][1]);
});

test('changes are marked word by word', async () => {
  const { compare } = await load('shared/text/difference.ts');
  const { before, after } = compare('I met an old friend.', 'I saw an old friend today.', 'en');
  assert.deepEqual(before.filter(({ changed }) => changed).map(({ text }) => text), ['met']);
  assert.deepEqual(after.filter(({ changed }) => changed).map(({ text }) => text), ['saw', ' today']);
  assert.equal(before.map(({ text }) => text).join(''), 'I met an old friend.');
  assert.deepEqual(compare('', 'a', 'en'), { before: [], after: [{ text: 'a', changed: true }] });
  assert.equal(compare('我昨天看书', '我今天看书', 'zh').after.filter(({ changed }) => changed)[0].text, '今天');
});

test('sentences are complete, in order, with the text between them', async () => {
  const { splitSentences: split, joinSentence: joint } = await import('../../dist/webpages/index.js');
  const texts = {
    'Am 3. Mai kam z. B. Dr. Kurz. Und dann?\nKein Punkt\n\n„Ja!“ sagte er. ': ['de', 4, ['', ' ', '\n', '\n\n']],
    '你好。你叫什么名字？我叫小明。': ['zh', 3, ['', ' ', ' ']],
    [`${'Wort, '.repeat(30)}\n${'x'.repeat(250)}`]: ['de', 5, undefined],
    '  \n ': ['de', 0, []],
    '': ['de', 0, []],
  };
  for (const [text, [language, count, joints]] of Object.entries(texts)) {
    const { parts, tail } = split(text, language, 100);
    assert.equal(parts.length, count, text);
    assert.equal(parts.map(({ gap, source }) => gap + source).join('') + tail, text, 'nothing is lost');
    for (const { begin, source } of parts) {
      assert.equal(text.slice(begin, begin + source.length), source);
      assert.ok(source.length <= 100);
    }
    if (joints) assert.deepEqual(parts.map((part) => joint(part, 'en')), joints);
  }
  const { parts } = split('One. Two.\nThree.', 'en', 100);
  assert.deepEqual(parts.map((part) => joint(part, 'zh')), ['', '', '\n']);
});

test('a label is doubtful where no label fits or few words were learned; the words are named', async () => {
  const { doubtOf, unknownWords } = await load('classify/doubt.ts');
  const found = (probability, ...pieces) => ({
    labels: [{ label: 'PlayMusic', probability }], sourceTokens: [...pieces, '</s>'].map((piece) => ({ piece })),
  });
  assert.equal(doubtOf('play nor jones', found(0.94, '▁play', '▁nor', '▁jon', 'es'), false), null);
  assert.equal(doubtOf('i love you', found(0.77, '▁i', '▁love', '▁you'), false), 'labels');
  assert.equal(doubtOf('i love you', found(0.1, '▁i', '▁love', '▁you'), true), null, 'labels that exclude each other do not');
  assert.equal(doubtOf('asdf', found(0.93, '▁as', 'd', 'f'), false), 'words', 'spelled letter by letter');
  assert.deepEqual(unknownWords('Kaufe warm milk', ['<unk>', 'au', 'fe', '▁warm', '▁milk']), ['Kaufe']);
  assert.deepEqual(unknownWords('我爱你', ['▁', '我', '爱', '你']), [], 'Chinese characters are no spelled words');
});

test('tags of a low probability are marked', async () => {
  const { tagged } = await load('classify/parts.ts');
  const tokens = [{ start: 0, end: 4, tag: 'NOUN', probability: 0.96 }, { start: 5, end: 10, tag: 'VERB', probability: 0.4 }];
  assert.deepEqual(tagged({ tokens }, ['NOUN', 'VERB']).map(({ isUnsure }) => isUnsure), [false, true]);
});
