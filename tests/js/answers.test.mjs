// The lists of first sentences and accepted answers, and how answers are compared (web/models/answers.mjs).
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { countAnswers, plain, readAnswers } from '../../web/models/answers.mjs';

const folder = new URL('../fixtures/answers/', import.meta.url);

test('each list has 60 sentences with a valid pattern, no sentence twice', () => {
  const lists = readdirSync(folder).filter((name) => /^\w\w-\w\w\.tsv$/.test(name));
  assert.deepEqual(lists.sort(), ['de-en.tsv', 'en-de.tsv', 'en-zh.tsv', 'fr-en.tsv', 'zh-en.tsv']);
  for (const name of lists) {
    const answers = readAnswers(new URL(name, folder));
    assert.equal(answers.length, 60, name);
    assert.equal(new Set(answers.map(({ sentence }) => sentence)).size, 60, name);
  }
});

test('case, punctuation and the kind of apostrophe do not matter; digits and decimal points do', async () => {
  assert.equal(plain('“It’s 7:30,” she said…'), 'it\'s 7:30 she said');
  assert.equal(plain('3.5 kg, 7,99 Euro.'), '3.5 kg 7,99 euro');
  assert.equal(plain('我很好，谢谢你。'), '我很好谢谢你');
  const answers = [{ sentence: 'a', accepted: /^(good (morning|day))$/u }, { sentence: 'b', accepted: /^(yes)$/u }];
  const said = { a: 'GOOD DAY!', b: 'Yes yes.' };
  const { right, wrong } = await countAnswers(answers, async (sentence) => said[sentence]);
  assert.deepEqual([right, wrong], [1, [{ sentence: 'b', text: 'Yes yes.' }]]);
});
