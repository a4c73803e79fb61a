// What the page says about texts: their language, how sure the model was, how long training takes.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { load } from './load.mjs';

test("a text's language is detected from its letters and words, and never guessed", async () => {
  const { languageOf } = await load('translate/detect.ts');
  const texts = {
    'I want to go home because I am tired.': 'en', 'Where is the station?': 'en', 'Ich möchte nach Hause gehen.': 'de',
    'Wo ist mein Buch?': 'de', 'Je ne sais pas où il est.': 'fr', '我们为什么工作？': 'zh', '私は学生です。': 'ja',
    'Это мой дом.': 'ru', 'Attention Is All You Need': 'en', 'Paris, Berlin, Tokyo': null, '': null, '12:30 😀': null,
    // Short ones, names, other languages and mixtures.
    'Bonjour, je suis très content de vous voir.': 'fr', 'Le chat est dans la maison avec les enfants.': 'fr', Ja: null,
    'Jürgen Müller, Zürich': null, 'Beyoncé and the café': 'en', 'Müller is in the garden with you.': 'en',
    'Zażółć gęślą jaźń, to nie jest dom': null, 'Nie wiem, gdzie jest Łódź.': null, 'Jag är från Malmö.': null,
    'El hombre que vive en la casa no es mi padre.': 'es', 'Ik weet niet waar het boek is.': 'nl', 'Ich habe nicht geschlafen, but I am not tired.': null,
    'Ich heiße Zoë und wohne mit André in Köln.': 'de', 'das Café': null,
  };
  for (const [text, language] of Object.entries(texts)) assert.equal(languageOf(text), language, text);
});

test('every example is in the language it is listed under', async () => {
  const [{ languageOf }, { examples }] = [await load('translate/detect.ts'), await load('translate/examples.ts')];
  for (const [language, sentences] of Object.entries(examples)) {
    for (const sentence of sentences) assert.ok([language, null].includes(languageOf(sentence)), sentence);
  }
});

test('a translation is weak if its tokens are improbable on average, and each improbable token is marked', async () => {
  const { isUnsure, isWeak } = await load('translate/sureness.ts');
  const tokens = (...shares) => shares.map((share) => ({ logProbability: Math.log(share) }));
  assert.deepEqual(tokens(0.9, 0.36, 0.29, 0.01).map(isUnsure), [false, false, true, true]);
  assert.equal(isWeak(tokens(0.9, 0.95, 0.5, 0.95)), false, 'one doubt is not a bad translation');
  assert.equal(isWeak(tokens(0.8, 0.6, 0.5, 0.9)), true);
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
    const values = defaultsOf({ data }, 0);
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
