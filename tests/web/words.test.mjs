// The words of the page: each in English and in Chinese, with the same places for values, and each in use.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { WasmformerError } from '../../dist/index.js';
import { load } from './load.mjs';

const root = fileURLToPath(new URL('../../web/src', import.meta.url));
const files = readdirSync(root, { recursive: true });
/** The tables of a language, such as translate/words/en.json, by their paths without the language. */
const tables = (language) => files.filter((file) => /\/words\//.test(file) && file.endsWith(`${language}.json`))
  .filter((file) => !file.endsWith('reasons.zh.json')).map((file) => file.slice(0, -`${language}.json`.length)).sort();
const read = (language, name) => JSON.parse(readFileSync(join(root, `${name}${language}.json`), 'utf8'));
const placesIn = (text) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort();

test('every string exists in English and Chinese, and both take the same values', () => {
  assert.deepEqual(tables('en'), tables('zh'));
  for (const name of tables('en')) {
    const [en, zh] = [read('en', name), read('zh', name)];
    assert.deepEqual(Object.keys(en).sort(), Object.keys(zh).sort(), name);
    for (const key of Object.keys(en)) {
      assert.ok(en[key].trim() && zh[key].trim(), `${name}: ${key} is empty`);
      assert.deepEqual(placesIn(en[key]), placesIn(zh[key]), `${name}: ${key}`);
    }
  }
});

test("English strings are English, and Chinese strings use the field's terms", () => {
  for (const name of tables('en')) {
    for (const [key, text] of Object.entries(read('en', name))) {
      if (key === 'otherLanguage') continue;
      const own = text.replace(' / 切换到中文', ''); // on a button for those who read Chinese
      assert.doesNotMatch(own, /[äöüß\p{Script=Han}]/u, `${name}: ${key}`);
    }
    for (const [key, text] of Object.entries(read('zh', name))) {
      if (key !== 'otherLanguage') assert.doesNotMatch(text, /词片|逐步|遍历|宽松/, `${name}: ${key}`);
    }
  }
});

test('every string is used', () => {
  const source = files.filter((file) => /\.(ts|svelte)$/.test(file)).map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
  // A key such as state_running may be put together: `state_${…}`.
  const starts = [...source.matchAll(/`(\w+_)\$\{/g)].map(([, start]) => start);
  for (const name of tables('en')) {
    for (const key of Object.keys(read('en', name))) {
      const isUsed = new RegExp(`['"\`]${key}['"\`]|\\b${key}: '`).test(source) || starts.some((start) => key.startsWith(start));
      assert.ok(isUsed || source.includes(`'${key}'`), `${name}: ${key} is not used`);
    }
  }
});

test('every setting that the package describes has a name on the page', async () => {
  const { choicesOf, exampleOf, MODEL, presetOf, TASKS, TRAINING } = await load('train/fields.ts');
  const { options } = await import('../../dist/options.js');
  const named = Object.keys(read('en', 'train/words/'));
  for (const key of [...MODEL, ...TRAINING]) {
    assert.ok(named.includes(`f_${key}`), key);
    for (const choice of choicesOf(key)) assert.ok(named.includes(`o_${choice}`), `${key}: ${choice}`);
    for (const preset of choicesOf('preset')) assert.ok(presetOf(preset)[key] !== undefined, `${preset}: ${key}`);
  }
  assert.deepEqual(TASKS.toSorted(), options.tasks.map(({ name }) => name).toSorted());
  assert.equal(exampleOf('reverse'), 'wasm → msaw');
});

test('settings must be within the ranges that the package describes', async () => {
  const { defaultsOf, wrongs } = await load('train/fields.ts');
  const values = defaultsOf({ data: 'roman' }, 0);
  assert.deepEqual(wrongs(values, undefined), {});
  const wrong = (changes) => Object.values(wrongs({ ...values, ...changes }, undefined)).map(([why]) => why);
  assert.deepEqual(wrong({ dropout: '1' }), ['range']);
  assert.deepEqual(wrong({ learning_rate: '0' }), ['more']);
  assert.deepEqual(wrong({ clip_norm: '-1' }), ['least']);
  assert.deepEqual(wrong({ batch_tokens: '1.5' }), ['whole']);
  assert.deepEqual(wrong({ pairs: '3701' }), ['most'], 'there are no more numerals');
});

test('a constant rate still warms up, and its steps can be set', async () => {
  const { defaultsOf, isUsed } = await load('train/fields.ts');
  assert.equal(isUsed('warmup_steps', { ...defaultsOf({}, 0), schedule: 'constant' }), true);
});

test('numbers and values are formatted for each language', async () => {
  const { language } = await load('shared/words/language.ts');
  const speak = (locale) => language(() => locale);
  assert.equal(speak('en').number(-0.001, { maximumFractionDigits: 2, minimumFractionDigits: 2 }), '0.00');
  assert.equal(speak('en').number(-0.5), '−0.5');
  const parameters = (locale) => speak(locale).words({ p: '{count} parameters' }, { p: '{count}个参数' });
  const { number } = speak('zh');
  assert.equal(parameters('zh')('p', { count: number(7_100_000, { notation: 'compact' }) }), '710 万个参数');
  assert.equal(parameters('zh')('p', { count: number(7_071_600) }), '7,071,600 个参数');
  assert.equal(parameters('en')('p', { count: '7' }), '7 parameters');
});

test('an error is shown without its tags and keeps its numbers', async () => {
  const { reason } = await load('shared/words/reason.ts');
  const error = new WasmformerError('check', 'a tensor of shape [64] needs 256 bytes.');
  assert.equal(error.message, '[check] a tensor of shape [64] needs 256 bytes.');
  assert.equal(reason(error).text, 'a tensor of shape [64] needs 256 bytes');
  assert.equal(reason("Cannot read 'name'..").text, "Cannot read 'name'");
  const url = 'https://a.org/x';
  const offline = new WasmformerError('fetch-failed', `${url} could not be fetched: Load failed`, { details: { url, why: 'Load failed' } });
  assert.equal(reason(offline).text, `${url} could not be fetched: there is no connection, or the server refuses it`);
});

const reasons = JSON.parse(readFileSync(join(root, 'shared/words/reasons.zh.json'), 'utf8'));

test('errors are said in Chinese by their codes, with their names and numbers', async () => {
  const { reason, retell } = await load('shared/words/reason.ts');
  for (const [code, details, chinese] of [
    ['not-a-model', { name: 'b.bin', file: 'a.bin' }, 'a.bin：b.bin 不是模型文件：它的开头不符合 safetensors 格式'],
    ['fetch-failed', { url: 'https://a.org/x', why: 'Failed to fetch' }, '无法获取 https://a.org/x（没有网络连接，或服务器拒绝访问）'],
    ['too-long', { number: 1, tokens: 751, most: 512 }, '第 1 句有 751 个词元，模型最多接受 512 个'],
    ['vocabulary-too-large', { size: 2000, most: 81 }, '词表大小 2000 对这些文本来说太大，最多为 81'],
    ['wrong-task', { use: 'translate', purpose: 'tags', file: 'a.bin' }, 'a.bin：这个模型不能翻译，它的用途是标注'],
    ['a-code-of-nobody', {}, 'its sentence'],
  ]) {
    assert.equal(retell(reason(new WasmformerError(code, 'its sentence', { details })), reasons), chinese);
  }
});

test('every code with a Chinese sentence exists in the sources, which give all values that it tells', () => {
  const folders = ['src', 'bindings', 'web/src'].map((folder) => join(root, '../..', folder));
  const files = folders.flatMap((folder) => readdirSync(folder, { recursive: true }).filter((file) => /\.(cpp|h|ts|svelte)$/.test(file)).map((file) => join(folder, file)));
  const source = files.map((file) => readFileSync(file, 'utf8')).join('\n');
  for (const [key, chinese] of Object.entries(reasons)) {
    const [name, value] = key.split(':'); // a value of a detail, or a code
    const isThere = source.includes(`'${value ?? name}'`) || source.includes(`"${value ?? name}"`);
    assert.ok(isThere, `no source has ${key}`);
    for (const place of placesIn(chinese).map((text) => text.slice(1, -1))) {
      assert.ok(new RegExp(`\\{"${place}",|\\b${place}\\b[:,]? `).test(source), `${key}: no source gives ${place}`);
    }
  }
});

test('addresses: malformed percent codes stay, and a Hugging Face page leads to its files', async () => {
  const { decoded, filesAt, isRun } = await load('models/folders.ts');
  assert.deepEqual([decoded('100%'), decoded('a%20b')], ['100%', 'a b']);
  const at = (address) => filesAt(new URL(address)).href;
  for (const page of ['', '/', '/tree/main']) {
    assert.equal(at(`https://huggingface.co/a/b${page}`), 'https://huggingface.co/a/b/resolve/main');
  }
  assert.equal(at('https://huggingface.co/a/b/blob/v2/x/y.safetensors'), 'https://huggingface.co/a/b/resolve/v2/x/y.safetensors');
  for (const other of ['https://huggingface.co/a/b/resolve/main/x', 'https://example.org/a/b', 'https://huggingface.co/a']) {
    assert.equal(at(other), other);
  }
  assert.deepEqual(['a.run.safetensors', 'a.run (2).safetensors', 'run.safetensors'].map((name) => isRun({ name })), [true, true, false]);
});
