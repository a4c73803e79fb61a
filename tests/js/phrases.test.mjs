// The phrase book to train on (web/models/phrases.mjs).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plain } from '../../web/models/answers.mjs';
import { common } from '../../web/models/common.mjs';
import { longest } from '../../web/models/longest.mjs';
import { kept, pairs, phrases, table } from '../../web/models/phrases.mjs';

const named = ['de', 'fr', 'zh'].map((other) => [`${other}-en`, pairs({ languages: [other, 'en'], count: 4000, seed: 5 })]);

test('each phrase has all languages, and the same slots in each', () => {
  for (const phrase of phrases) {
    const slots = Object.values(phrase).flatMap((cell) => cell.split(' | ')).map((text) =>
      [...text.matchAll(/\{(\w+)/g)].map(([, slot]) => slot.toLowerCase()).sort().join(' '));
    assert.deepEqual([Object.keys(phrase).length, new Set(slots).size], [4, 1], JSON.stringify(phrase));
  }
});

test('no pair has a sentence or a name from the test lists', () => {
  const { sentences, names } = kept();
  assert.ok(sentences.has('guten morgen') && sentences.has('bonjour') && names.has('Zwickau'));
  for (const [languages, list] of named) {
    for (const side of list.flat()) {
      assert.ok(!sentences.has(plain(side)), `${languages}: ${side}`);
      assert.ok(![...names].some((name) => side.includes(name)), `${languages}: ${side}`);
    }
  }
});

for (const [file, ...languages] of [['sentences.tsv', 'en', 'de', 'fr', 'zh'], ['sentences-zh.tsv', 'en', 'zh'], ['sentences-de-fr.tsv', 'en', 'de', 'fr']]) {
  test(`${file}: each row has ${languages.length} languages, each with final punctuation; no English or Chinese sentence twice, no sentence or name from the test lists`, () => {
    const { sentences, names } = kept();
    const rows = table(file);
    for (const row of rows) {
      assert.equal(row.length, languages.length, `${row}`);
      for (const [i, text] of row.entries()) {
        assert.match(text, languages[i] === 'zh' ? /[。？！]”?$/ : /[.?!]"?$/);
        assert.ok(!sentences.has(plain(text)) && ![...names].some((name) => text.includes(name)), text);
      }
    }
    for (const language of ['en', 'zh'].filter((language) => languages.includes(language)))
      assert.equal(new Set(rows.map((row) => plain(row[languages.indexOf(language)]))).size, rows.length);
  });
}

test('slots are filled: names the same on both sides, numbers as each language writes them', () => {
  for (const [languages, list] of named) {
    assert.ok(list.every((pair) => pair.every((side) => !/[{}]|undefined| {2}/.test(side))), languages);
    assert.ok(new Set(list.map((pair) => pair.join('\t'))).size > 2000, languages);
    for (const [english, other] of list.filter(([english]) => /^(My name is [A-Z]\w+\.|That costs .*\d)/.test(english))) {
      const copied = english.match(/[\d.]*\d|[A-Z]\w+(?=\.$)/)[0];
      assert.ok(languages === 'zh-en' || other.includes(/^\d/.test(copied) ? copied.replace('.', ',') : copied), `${english} ${other}`);
    }
  }
});

test('half past an hour is half of the next one in German', () => {
  const next = { one: 'zwei', two: 'drei', three: 'vier', four: 'fünf', five: 'sechs', six: 'sieben', seven: 'acht', eight: 'neun',
    nine: 'zehn', ten: 'elf', eleven: 'zwölf', twelve: 'eins' };
  const halves = named[0][1].map(([english, german]) => [next[english.match(/half past (\w+)/)?.[1]], german.match(/halb (\p{L}+)/u)?.[1]])
    .filter(([expected]) => expected);
  assert.ok(halves.length > 3);
  for (const [expected, german] of halves) assert.equal(german, expected);
});

test('common sentences are short and have several translations, whatever their case and punctuation', () => {
  const isCommon = (...pairs) => common(pairs).length === pairs.length;
  assert.ok(isCommon(['Hello!', 'Salut !'], ['Hi.', 'salut']));
  assert.ok(!isCommon(['Hello!', 'Salut !'], ['hello', 'Salut.']));
  const long = 'Je ne sais pas du tout';
  assert.ok(isCommon(['I have no idea.', `${long}.`], ["I don't know at all.", long], ['No idea.', long]));
  assert.ok(!isCommon(['I have no idea.', `${long}.`], ["I don't know at all.", long]));
  assert.ok(isCommon(['What time is it?', 'Quelle heure est-il ?'], ["What's the time?", 'Quelle heure est-il ?']));
  assert.ok(isCommon(['Come in!', '请进！']) && !isCommon(['Please open the door.', '请把门打开。']));
});

test('the shortest translations are left out among sentences of the same length', () => {
  const short = [['I am here.', '我在'], ['I am here.', '我在这里'], ['I am there.', '我在那里。'], ['He is here.', '他就在这里。']];
  const long = [['The new house is on the other side of the old river.', '新房'], ['The new house is on the other side of the old river.', '新房子在老河对岸。']];
  assert.deepEqual(longest([...short, ...long], 0.5), [short[2], short[3], long[1]]);
  assert.deepEqual(longest([...short, ...long], 0), [...short, ...long]);
});
