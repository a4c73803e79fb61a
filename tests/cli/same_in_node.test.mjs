// The native program and `npx wasmformer` give the same tokenizers, training logs, models, translations and scores.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { reportsIn } from './reports.mjs';

const root = join(import.meta.dirname, '../..');
const programs = { native: join(root, 'build/native/wasmformer'), node: join(root, 'dist/cli.js') };
const folder = mkdtempSync(join(tmpdir(), 'wasmformer-'));
const path = (name) => join(folder, name);
after(() => rmSync(folder, { recursive: true, force: true }));

const model = join(root, 'tests/fixtures/tiny-de-en.safetensors');
const pairs = readFileSync(join(root, 'tests/fixtures/tatoeba-en-de-test-200.tsv'), 'utf8');
const sentences = pairs.trim().split('\n').map((line) => line.split('\t')[1] + '\n').join('');
writeFileSync(path('pairs.tsv'), pairs);
writeFileSync(path('pairs.tsv.gz'), gzipSync(pairs));

/** What both print for these arguments, in which NAME stands for the program, so that they write different files. */
function both(args, input) {
  return Object.entries(programs).map(([name, program]) => {
    const { status, stdout, stderr } = spawnSync(program, args.map((word) => word.replace('NAME', name)), { input, encoding: 'utf8' });
    assert.equal(status, 0, `${name}: ${stderr}`);
    return { stdout, stderr };
  });
}

test('tokenizers have the same bytes', () => {
  for (const type of ['bpe', 'unigram', 'char', 'word']) {
    both(['tokenizer', '--input', path('pairs.tsv.gz'), '--vocab-size', '200', '--type', type, '--output', path(`NAME-${type}.model`)]);
    assert.ok(readFileSync(path(`native-${type}.model`)).equals(readFileSync(path(`node-${type}.model`))), type);
  }
});

test('the losses of a run differ by less than 1e-5, with any number of threads', () => {
  const train = (...more) => both(['train', '--data', path('pairs.tsv.gz'), '--valid-data', path('pairs.tsv'), '--columns', '1,0',
    '--tokenizer', path('native-bpe.model'), '--preset', 'tiny', '--set', 'd_model=32', '--set', 'ffn_dim=64',
    '--set', 'warmup_steps=20', '--batch-tokens', '300', '--report-every', '1', ...more]);
  const logs = (output) => ['native', 'node'].map((name) => reportsIn(path(`${name}-${output}/log.jsonl`)));
  train('--max-steps', '30', '--output', path('NAME-run'));
  const [native, node] = logs('run');
  assert.equal(native.length, 30);
  assert.deepEqual(node.map(({ step }) => step), native.map(({ step }) => step));
  for (const key of ['loss', 'valid_loss', 'learning_rate']) {
    native.forEach((entry, i) => {
      if (entry[key] !== undefined) assert.ok(Math.abs(entry[key] - node[i][key]) < 1e-5, `${key} ${entry[key]} and ${node[i][key]}`);
    });
  }
  assert.ok(native.at(-1).loss < native[0].loss);
  train('--max-steps', '5', '--threads', '2', '--output', path('NAME-two'));
  const [, two] = logs('two');
  assert.deepEqual(two.map(({ loss }) => loss), node.slice(0, 5).map(({ loss }) => loss));
  const [{ stdout: ofNative }, { stdout: ofNode }] = both(['inspect', path('NAME-run/best.safetensors'), '--json']);
  assert.deepEqual(Object.keys(JSON.parse(ofNode)), Object.keys(JSON.parse(ofNative)));
});

test('translations, scores and attention are the same', () => {
  for (const flags of [['--beam-size', '1'], ['--n-best', '2', '--length-penalty', '1', '--threads', '2']]) {
    const [native, node] = both(['translate', '--model', model, '--input', '-', ...flags], sentences);
    const scored = ({ stdout }) => stdout.split('\n').map((line) => line.split(' ||| '));
    const texts = (output) => scored(output).map(([number, text]) => [number, text]);
    assert.deepEqual(texts(node), texts(native));
    scored(node).forEach(([, , score], i) => score && assert.ok(Math.abs(score - scored(native)[i][2]) < 1e-3));
  }
  const [native, node] = both(['translate', '--model', model, '--scores', '--attention', path('NAME.json')], gzipSync('Wo ist mein Buch?\n'))
    .map(({ stdout }) => stdout.split('\t'));
  assert.equal(node[1], native[1]);
  assert.ok(Math.abs(node[0] - native[0]) < 1e-3);
  const [theirs, ours] = ['native', 'node'].map((name) => JSON.parse(readFileSync(path(`${name}.json`)))[0]);
  assert.deepEqual([ours.cross.rows, ours.cross.columns], [theirs.cross.rows, theirs.cross.columns]);
  ours.cross.data.forEach((p, i) => assert.ok(Math.abs(p - theirs.cross.data[i]) < 1e-3));
});

test('evaluation gives the same scores and hypotheses', () => {
  const [native, node] = both(['evaluate', '--model', model, '--data', path('pairs.tsv.gz'), '--columns', '1,0',
    '--output', path('NAME.txt'), '--json']).map(({ stdout }) => JSON.parse(stdout));
  for (const key of ['bleu', 'chrf', 'exact_match', 'bleu_signature', 'sentences', 'target_tokens', 'length_ratio']) assert.equal(node[key], native[key], key);
  assert.equal(readFileSync(path('node.txt'), 'utf8'), readFileSync(path('native.txt'), 'utf8'));
});

test('help and errors about options are the same, including the exit code', () => {
  for (const args of [['--help'], ['train', '--help'], [], ['translate'], ['translate', '--model', path('absent')], ['sing']]) {
    const [native, node] = Object.values(programs).map((program) => {
      const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
      return { status, stdout, stderr };
    });
    assert.deepEqual(node, native, args.join(' '));
  }
});

test('in Node, output larger than a pipe waits for its reader, and stops when the reader closes', () => {
  const count = 6000;
  writeFileSync(path('many'), 'Wo ist mein Buch?\n'.repeat(count));
  const piped = (reader) => spawnSync('bash', ['-c', `"$0" "$@" | ${reader}; echo "\${PIPESTATUS[0]}"`, programs.node, 'translate',
    '--model', model, '--input', path('many'), '--beam-size', '1'], { encoding: 'utf8' });
  const [line, ...rest] = piped('(read -r line; echo "$line"; sleep 1; cat)').stdout.trimEnd().split('\n');
  assert.equal(rest.pop(), '0');
  assert.ok(line.length * count > 1 << 16);
  assert.equal(rest.filter((other) => other === line).length, count - 1);
  const { stdout, stderr } = piped('head -n 1');
  assert.deepEqual([stdout, stderr], [`${line}\n141\n`, '']);
});

test('nearly all translations of an int8 model are the same', () => {
  const bundled = join(root, 'web/public/models/de-en.safetensors');
  const [native, node] = both(['translate', '--model', bundled, '--beam-size', '1'], sentences).map(({ stdout }) => stdout.split('\n'));
  assert.equal(node.length, native.length);
  const same = node.filter((line, i) => line === native[i]).length;
  assert.ok(same >= 0.98 * node.length, `${same} of ${node.length}`);
});

// Threads end while the program does; Emscripten's own exit once reached Node as an uncaught exception, in one run of eight.
test('in Node, a run with threads always exits with 0', () => {
  for (let run = 0; run < 24; run++) {
    const { status, stdout } = spawnSync(programs.node, ['translate', '--model', model, '--input', '-', '--threads', '2'],
      { input: sentences, encoding: 'utf8' });
    assert.deepEqual([status, stdout.split('\n').length], [0, sentences.split('\n').length], `run ${run}`);
  }
});
