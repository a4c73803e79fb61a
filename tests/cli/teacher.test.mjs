// Distillation as a user does it: what a student learns, what is kept of the teacher's work, and what is refused.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { path, refuse, succeed, train } from './trained.mjs';

const student = (output, ...more) => ['train', '--teacher', path('run/best.safetensors'), '--teacher-beam', '3', '--data', path('train.tsv.gz'),
  '--valid-data', path('valid.tsv'), '--set', 'd_model=16', 'ffn_dim=32', 'num_heads=2', 'decoder_self=ssru', 'warmup_steps=20',
  '--batch-tokens', '200', '--output', path(output), ...more];
const lines = (file) => readFileSync(file, 'utf8').split('\n').slice(0, -1);
const kept = (output) => path(`${output}/${readdirSync(path(output)).find((name) => /^teacher-\d+\.tsv$/.test(name))}`);
const linesOfTrain = () => gunzipSync(readFileSync(path('train.tsv.gz'))).toString().trim().split('\n');
const pairs = () => [...new Set(linesOfTrain())].map((line) => line.split('\t')); // the teacher translates identical pairs once

test("a student learns the teacher's hypotheses nearest to the targets, or the best ones without targets", () => {
  writeFileSync(path('mono'), 'sieben acht neun\n\neins eins\n');
  const { stderr } = succeed(...student('student', '--monolingual', path('mono'), '--max-steps', '5'));
  const count = pairs().length + 2;
  assert.match(stderr, new RegExp(`teacher: 0 of ${count} sources.*\\nteacher: ${count} of ${count} sources.*\\ntrain: 402 pairs`, 's'));
  const learned = lines(kept('student')).map((line) => line.split('\t'));
  assert.deepEqual(learned.map(([source]) => source), [...pairs().map(([source]) => source), 'sieben acht neun', 'eins eins']);
  writeFileSync(path('sources'), learned.map(([source]) => `${source}\n`).join(''));
  const beam = ['translate', '--model', path('run/best.safetensors'), '--input', path('sources'), '--beam-size', '3'];
  const hypotheses = learned.map(() => []);
  for (const line of succeed(...beam, '--n-best', '3').stdout.trim().split('\n')) {
    const [i, text] = line.split(' ||| ');
    hypotheses[i].push(text);
  }
  let chosen = 0;
  for (const [i, [, target]] of learned.entries()) {
    assert.ok(hypotheses[i].includes(target), `${i}: ${target}`);
    const reference = pairs()[i]?.[1];
    if (reference === undefined) assert.equal(target, hypotheses[i][0]);
    if (hypotheses[i].includes(reference)) assert.equal(target, reference);
    chosen += target !== hypotheses[i][0];
  }
  assert.ok(chosen > 0, 'the best is not always the nearest');
  const { config, metadata } = JSON.parse(succeed('inspect', path('student/last.safetensors'), '--json').stdout);
  assert.deepEqual([config.decoder_self, config.d_model, metadata.steps], ['ssru', 16, '5']);
});

test('a teacher translates each pair only once, however often a weight repeats it', () => {
  const { stderr } = succeed(...student('twice', '--max-steps', '1').map((word) => (word === path('train.tsv.gz') ? `${word}:2` : word)));
  assert.match(stderr, new RegExp(`teacher: ${pairs().length} of ${pairs().length} sources.*\\ntrain: 800 pairs`, 's'));
});

test('translations made before the teacher was killed are kept, and a resumed run learns the same', () => {
  succeed(...student('taught', '--max-steps', '8'));
  const file = kept('taught');
  const whole = readFileSync(file, 'utf8');
  succeed(...student('killed', '--max-steps', '1'));
  writeFileSync(kept('killed'), lines(file).slice(0, 100).map((line) => `${line}\n`).join(''));
  const { stderr } = succeed(...student('killed', '--resume', '--max-steps', '8'));
  assert.match(stderr, new RegExp(`teacher: 100 of ${pairs().length} sources`));
  assert.equal(readFileSync(kept('killed'), 'utf8'), whole);
  assert.match(succeed(...student('fresh', '--resume', '--max-steps', '8', '--threads', '2')).stderr, new RegExp(`teacher: 0 of ${pairs().length} sources`));
  for (const output of ['killed', 'fresh'])
    assert.ok(readFileSync(path(`${output}/last.safetensors`)).equals(readFileSync(path('taught/last.safetensors'))), output);
  refuse(/trained on other pairs/, [...student('taught', '--resume', '--max-steps', '9'), '--mono', path('mono')]);
});

test("--from takes a model whose layers differ from the run's", () => {
  const from = (output, ...more) => ['train', '--from', path('run/best.safetensors'), '--data', path('train.tsv.gz'), '--valid-data', path('valid.tsv'),
    '--batch-tokens', '200', '--max-steps', '1', '--report-every', '1', '--output', path(output), ...more];
  succeed(...from('recurrent', '--set', 'decoder_self=ssru', 'decoder_layers=1', 'encoder_layers=1'));
  const { config } = JSON.parse(succeed('inspect', path('recurrent/last.safetensors'), '--json').stdout);
  assert.deepEqual([config.decoder_self, config.decoder_layers, config.encoder_layers], ['ssru', 1, 1]);
  refuse(/keeps its sizes; only .*decoder_self can change/, from('bad', '--set', 'decoder_layers=0'));
});

test('options that do not fit a teacher are refused', () => {
  const other = (from, to) => student('bad', '--max-steps', '1').map((word) => (word === from ? to : word));
  refuse(/--teacher translates the sources of sentence pairs, and --monolingual; give one of them/,
    ['train', '--teacher', path('run/best.safetensors'), '--task', 'reverse', '--output', path('bad'), '--max-steps', '1']);
  refuse(/--validation would hold back the teacher's translations; give --valid-data/,
    student('bad', '--max-steps', '1', '--validation', '9').filter((word) => word !== '--valid-data' && word !== path('valid.tsv')));
  const plain = (...names) => names.flatMap((name) => [name, path('mono')]);
  refuse(/--mono is the earlier name of --monolingual; give one of them/, student('bad', '--max-steps', '1', ...plain('--mono', '--monolingual')));
  refuse(/--text trains an encoder, which no teacher teaches/, student('bad', '--max-steps', '1', ...plain('--text')));
  refuse(/--monolingual has sources for a --teacher/, ['train', ...plain('--monolingual'), '--tokenizer', path('tok.model'),
    '--validation', '1', '--output', path('bad'), '--max-steps', '1']);
  refuse(/--mono is the earlier name of --text; give one of them/, ['train', ...plain('--mono', '--text'), '--tokenizer', path('tok.model'),
    '--validation', '1', '--output', path('bad'), '--max-steps', '1']);
  refuse(/absent\.safetensors/, other(path('run/best.safetensors'), path('absent.safetensors')));
  refuse(/teacher_beam must be a whole number from 1 to 64, not 65/, other('3', '65'));
  refuse(/--teacher-beam requires --teacher/, train('bad', '--max-steps', '1', '--teacher-beam', '2'));
  refuse(/unknown option 'decoder_sel'/, student('bad', '--max-steps', '1', '--set', 'decoder_sel=ssru'));
});
