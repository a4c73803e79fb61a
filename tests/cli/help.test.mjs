// Tests of --help: it fits a terminal, its options are in groups, and its examples run as they stand there.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { path, program, refuse, succeed } from './trained.mjs';

const fixtures = join(import.meta.dirname, '../fixtures');
const main = succeed('--help').stdout;
const commands = [...main.split('Subcommands:')[1].split('\n\n')[0].matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name);
const helpOf = (command) => succeed(...(command ? [command, '--help'] : ['--help'])).stdout;

/** The commands of the examples, those of several lines as one. */
function examplesOf(help) {
  const [, block = ''] = /^Examples:\n((?: {2}.*\n)+)/m.exec(help) ?? [];
  return block.replace(/\\\n/g, '').split('\n').map((line) => line.trim()).filter(Boolean);
}

/** Files under the names that the examples use; each example gets a folder of its own with all of them. */
const files = path('files');
before(() => {
  mkdirSync(files);
  const put = (name, from) => cpSync(from, join(files, name), { recursive: true });
  for (const [name, from] of [['news.de', 'source'], ['news.en', 'target'], ['test.tsv', 'valid.tsv'], ['tok.model', 'tok.model'], ['run', 'run']])
    put(name, path(from));
  for (const [name, from] of [['opus-mt-de-en', 'marian/tiny'], ['distilbert-sentiment', 'bert/distilbert-classify'], ['bert-ner', 'bert/bert-tag']])
    put(name, join(fixtures, from));
  // Other weights lie beside these, for other tests.
  mkdirSync(join(files, 'firefox-deen'));
  for (const name of ['model.int8.bin', 'lex.tiny.s2t.bin', 'vocab.spm']) put(`firefox-deen/${name}`, join(fixtures, 'marian/student', name));
  const make = (...args) => {
    const { status, stderr } = spawnSync(program, args, { cwd: files, encoding: 'utf8' });
    assert.equal(status, 0, stderr);
  };
  make('import-marian', 'opus-mt-de-en', '--output', 'de-en.safetensors');
  make('import-marian', 'firefox-deen', '--output', 'student.safetensors');
  make('import-bert', 'distilbert-sentiment', '--output', 'sentiment.safetensors');
  make('import-bert', 'bert-ner', '--output', 'names.safetensors');
  writeFileSync(join(files, 'train.tsv'), Array.from({ length: 300 }, (_, i) => `${i} ${i}\tnull ${i % 10}\n`).join(''));
  writeFileSync(join(files, 'card.json'), '{ "limits": "short sentences" }');
  for (const name of ['news.txt', 'reviews.txt']) writeFileSync(join(files, name), 'A film.\nA book in London.\n');
});

test('help fits 80 columns', () => {
  assert.ok(commands.length >= 16, commands.join());
  for (const command of ['', ...commands])
    for (const line of helpOf(command).split('\n')) assert.ok([...line].length <= 80, `${command}: ${line}`);
});

test('options of the larger commands are in groups, each option once', () => {
  for (const command of ['train', 'translate', 'evaluate', 'tokenizer']) {
    const help = helpOf(command).split('Examples:')[0];
    const headings = [...help.matchAll(/^([A-Z][\w ]+):$/gm)].map(([, heading]) => heading).filter((heading) => heading !== 'Positionals');
    assert.ok(headings.length >= 3, `${command}: ${headings}`);
    assert.equal(headings.at(-1), 'Options');
    const rest = help.split('\nOptions:\n')[1].match(/^ {2}-.*$/gm).map((line) => line.trim().split(/ {2,}/)[0]);
    assert.deepEqual(rest.filter((name) => !/--help|--quiet|--metadata/.test(name)), [], command);
    const flags = help.match(/^ {2}--[\w-]+/gm);
    assert.equal(new Set(flags).size, flags.length, command);
  }
});

test('the values of options have names, and defaults are shown where there are some', () => {
  const train = helpOf('train').replace(/\s+/g, ' ');
  assert.match(train, /--max-steps N stop after this many steps \(a whole number of at least 1\)/);
  assert.match(train, /--report-every N steps between events \(a whole number of at least 1; default 100\)/);
  assert.match(train, /--set KEY=VALUE\.\.\./);
  assert.match(train, /--output FOLDER .*\(required\)/);
  assert.doesNotMatch(helpOf('evaluate'), /Excludes|INT:/);
});

test('each command has two examples or more, and all of them run', { timeout: 300_000 }, () => {
  const bin = path('bin');
  mkdirSync(bin);
  symlinkSync(program, join(bin, 'wasmformer'));
  for (const command of ['', ...commands]) {
    const examples = examplesOf(helpOf(command));
    assert.ok(examples.length >= 2, `${command}: ${examples}`);
    for (const [i, example] of examples.entries()) {
      const folder = path(`example-${command}-${i}`);
      mkdirSync(folder);
      // A run makes its own folder.
      for (const name of readdirSync(files).filter((name) => command !== 'train' || name !== 'run'))
        cpSync(join(files, name), join(folder, name), { recursive: true });
      // The same, but shorter.
      const quick = example.replace(/--max-(steps|epochs) \d+/, '--max-steps 1').replace(/--vocab-size \d+/, '--vocab-size 300 --no-hard-vocab-limit').replace(/^wasmformer bench.*?(--seconds \d+)?$/, (line) => `${line.replace(/--seconds \d+/, '')} --seconds 0.01`);
      const { status, stderr } = spawnSync('bash', ['-o', 'pipefail', '-c', quick],
        { cwd: folder, encoding: 'utf8', env: { ...process.env, PATH: `${bin}:${process.env.PATH}` } });
      assert.equal(status, 0, `${example}: ${stderr}`);
    }
  }
});

test('help COMMAND prints the help of the command; -V the version; the native program says where models is', () => {
  assert.equal(succeed('help', 'translate').stdout, helpOf('translate'));
  assert.equal(succeed('help').stdout, main);
  assert.equal(succeed('-V').stdout, succeed('--version').stdout);
  refuse(/unknown command 'trian'; did you mean 'train'/, ['help', 'trian']);
  if (!process.env.WASMFORMER_PROGRAM) refuse(/npx wasmformer models LIST/, ['models', 'list.json']);
});
