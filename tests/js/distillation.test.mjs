// A teacher's translations and weighted corpora in the package: the same as in the program, and what is refused.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Trainer, Translator } from '../../dist/index.js';
import { reportsIn } from '../cli/reports.mjs';
import { close, fixtureBytes, fixturePath, sentences } from './support.mjs';

const program = process.env.WASMFORMER_PROGRAM ?? join(import.meta.dirname, '../../build/native/wasmformer');
const config = { d_model: 32, ffn_dim: 64, num_heads: 2, encoder_layers: 1, decoder_layers: 1, batch_tokens: 64 };
const pairs = sentences.map((source, i) => [source, ['I have a dog.', 'Where is it?', 'She reads.', 'Thanks!', 'Rain.'][i]]);
const first = pairs.slice(0, 2);
const others = pairs.slice(2);
const validation = [['Guten Tag!', 'Hello!'], ['Wo ist das Buch?', 'Where is the book?']];
const mono = ['Ich lese ein Buch.', '', 'Das Haus ist alt.'];
const student = { teacher: fixturePath, pairs, validation, config, seed: 3, threads: 1 };
const classifier = join(import.meta.dirname, '../../web/public/encoders/snips.safetensors');
const asTsv = (given) => given.map((pair) => `${pair.join('\t')}\n`).join('');

/** What a saved run learns from, [source, target] each. */
async function learned(trainer) {
  const bytes = Buffer.from(await (await trainer.save()).arrayBuffer());
  const header = JSON.parse(bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE(0))).toString());
  return JSON.parse(header.__metadata__['run.texts']).train;
}

/** The texts and the losses of a few steps in the package. */
async function inPackage(options) {
  const trainer = await Trainer.create(options);
  try {
    const losses = [];
    for await (const { loss } of trainer.run({ steps: 3, reportEvery: 1 })) losses.push(loss);
    return { texts: await learned(trainer), losses };
  } finally {
    trainer.dispose();
  }
}

/** The same in the program; the texts only if there is a teacher. */
function inProgram(t, files, ...options) {
  const folder = mkdtempSync(join(tmpdir(), 'wasmformer-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries({ ...files, 'valid.tsv': asTsv(validation) })) writeFileSync(join(folder, name), text);
  const sets = Object.entries(config).map(([key, value]) => `${key}=${value}`);
  const run = ['train', '--valid-data', 'valid.tsv', '--preset', 'tiny', '--seed', '3', '--max-steps', '3', '--report-every', '1',
    '--output', 'run', '--set', ...sets, ...options];
  const { status, stderr } = spawnSync(program, run, { encoding: 'utf8', cwd: folder });
  assert.equal(status, 0, stderr);
  const lines = (name) => readFileSync(join(folder, 'run', name), 'utf8').trimEnd().split('\n');
  const translations = readdirSync(join(folder, 'run')).find((name) => name.startsWith('teacher-'));
  return {
    texts: translations && lines(translations).map((line) => line.split('\t')),
    losses: reportsIn(join(folder, 'run', 'log.jsonl')).map(({ loss }) => loss),
  };
}

function compareLosses(actual, expected) {
  assert.equal(actual.length, expected.length);
  for (const [i, loss] of actual.entries()) close(loss, expected[i], 1e-4);
}

test("a run in the package learns a teacher's translations as one of the program does", async (t) => {
  const files = { 'pairs.tsv': asTsv(pairs), mono: `${mono.join('\n')}\n` };
  const expected = inProgram(t, files, '--teacher', fixturePath, '--teacher-beam', '3', '--data', 'pairs.tsv', '--monolingual', 'mono');
  const found = await inPackage({ ...student, teacherBeam: 3, monolingual: mono });
  assert.deepEqual(found.texts, expected.texts);
  assert.deepEqual(found.texts.map(([source]) => source), [...sentences, 'Ich lese ein Buch.', 'Das Haus ist alt.']);
  compareLosses(found.losses, expected.losses);
});

test('corpora are weighted in the package as in the program', async (t) => {
  const files = { 'first.tsv': asTsv(first), 'others.tsv': asTsv(others) };
  const teacher = ['--teacher', fixturePath];
  const expected = inProgram(t, files, '--data', 'first.tsv:2', 'others.tsv:0.7', ...teacher);
  const found = await inPackage({ ...student, pairs: [first, others], weights: [2, 0.7] });
  compareLosses(found.losses, expected.losses);
  const sources = [...first, ...first, ...others.slice(1)].map(([source]) => source);
  assert.deepEqual(found.texts.map(([source]) => source).sort(), sources.sort());
  const asFiles = await inPackage({ ...student, pairs: undefined, tsv: [asTsv(first), asTsv(others)], weights: [2, 0.7] });
  assert.deepEqual(asFiles, found);
});

test('the hypothesis nearest to the target is learned, or the best one without a target', async () => {
  const translator = await Translator.load(fixturePath, { threads: 1 });
  const translations = await translator.translate([...sentences, mono[0]], { beamSize: 4, nBest: 4 });
  translator.dispose();
  const { texts } = await inPackage({ ...student, teacher: fixtureBytes(), monolingual: [mono[0]] });
  const hypotheses = translations.map(({ text, alternatives }) => [text, ...alternatives.map((other) => other.text)]);
  for (const [i, [, target]] of texts.entries()) assert.ok(hypotheses[i].includes(target), target);
  assert.equal(texts.at(-1)[1], hypotheses.at(-1)[0]);
});

test('a run that is resumed needs no teacher, and one without its texts takes it again', async () => {
  const trainer = await Trainer.create(student);
  const [whole, bare] = [await trainer.save(), await trainer.save({ data: false })];
  const texts = await learned(trainer);
  trainer.dispose();
  const resumed = await Trainer.resume(whole, { threads: 1 });
  assert.deepEqual(await learned(resumed), texts);
  resumed.dispose();
  const again = await Trainer.resume(bare, { teacher: fixturePath, pairs, validation, threads: 1 });
  assert.equal(again.info.trainTexts, pairs.length);
  again.dispose();
});

test('a run can be given up while its teacher translates', async () => {
  const controller = new AbortController();
  const many = Array.from({ length: 3000 }, (_, i) => [`${sentences[i % 5]} ${i}`, '']);
  const created = Trainer.create({ ...student, pairs: many, signal: controller.signal });
  setTimeout(() => controller.abort(new Error('no more')), 300);
  await assert.rejects(created, /no more/);
});

const refused = {
  'a teacher and no pairs to validate on': [{ ...student, validation: undefined }, 'train', /no pairs to validate on/],
  'a teacher and a number of pairs to hold back': [{ ...student, validation: 2 }, 'train', /no pairs to validate on/],
  'a teacher and a task': [{ teacher: fixturePath, task: 'reverse' }, 'train', /give one of them/],
  'a teacher and labeled texts': [
    { teacher: fixturePath, labeled: [['a', 'b'], ['c', 'd']], validLabeled: [['a', 'b']] }, 'train', /give one of them/],
  'a teacher that classifies': [{ ...student, teacher: classifier }, 'wrong-task', /snips.*does not translate; it classifies/],
  'a file that is no model as the teacher': [{ ...student, teacher: new Uint8Array(100) }, undefined, /./],
  'the beam of no teacher': [{ pairs, teacherBeam: 2 }, 'train', /no teacher/],
  'a beam of 65': [{ ...student, teacherBeam: 65 }, 'option-value', /teacherBeam must be a whole number from 1 to 64, not 65/],
  'fewer weights than corpora': [{ pairs: [first, others], weights: [1] }, 'train', /weights has 1 numbers, but pairs has 2 corpora/],
  'weights of no corpora': [{ task: 'reverse', weights: [1] }, 'train', /neither pairs nor tsv/],
  'a negative weight': [{ pairs: [first, others], validation, weights: [1, -1] }, 'option-value', /weights.* must be a number above 0/],
  'a weight of 0': [{ pairs: [first, others], validation, weights: [0, 1] }, 'option-value', /weights.* must be a number above 0/],
  'a weight of 1001': [{ pairs: [first], validation, weights: [1001] }, 'option-value', /at most 1000/],
  'a weight that is no number': [{ pairs: [first], validation, weights: ['2'] }, 'option-value', /weights.* must be a number/],
  'one weight instead of a list': [{ pairs, validation, weights: 2 }, 'option-value', /weights must be an array/],
  'repeated pairs and none to validate on': [{ pairs: [first, others], weights: [2, 1] }, 'train', /weights repeat pairs/],
  'pairs as one corpus beside weights': [{ pairs, validation, weights: [1, 1, 1, 1, 1] }, 'train', /pairs\[0\]\[0\] must be two strings/],
  'both pairs and tsv as corpora': [{ pairs: [first], tsv: [asTsv(first)], validation, weights: [1] }, 'train', /choose one of them/],
  'a list of texts without weights': [{ tsv: [asTsv(first)] }, 'option-value', /tsv must be a string/],
};
for (const [what, [options, code, sentence]] of Object.entries(refused)) {
  test(`refused: ${what}`, async () => {
    await assert.rejects(Trainer.create({ threads: 1, ...options }), (error) => {
      assert.match(error.message, sentence);
      if (code) assert.equal(error.code, code);
      return true;
    });
  });
}
