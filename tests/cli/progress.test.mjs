// Progress on a terminal, with what is left to do, and what --quiet leaves of it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { path, program, run, succeed, train } from './trained.mjs';

const model = () => path('run/best.safetensors');

/** Output of the program on standard error if that is a terminal. */
function onTerminal(args, input) {
  const script = `
import os, pty, subprocess, sys
ours, theirs = pty.openpty()
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=theirs)
os.close(theirs)
try:
    while part := os.read(ours, 65536):
        sys.stdout.buffer.write(part)
except OSError:  # the other end is closed
    pass
sys.exit(child.wait())`;
  const { status, stdout, stderr } = spawnSync('python3', ['-c', script, program, ...args], { encoding: 'utf8', input });
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}

before(() => {
  const words = Array.from({ length: 4000 }, (_, i) => ((i * 7919) % 100003).toString(36));
  writeFileSync(path('words'), Array.from({ length: 8000 }, (_, i) => `${words[i % 4000]} ${words[(i * 31) % 4000]}\n`).join(''));
  writeFileSync(path('long'), readFileSync(path('source'), 'utf8').repeat(60));
});

test('translate, classify and evaluate show how much of a file is done and how long the rest takes', () => {
  const shown = onTerminal(['translate', '--model', model(), '--input', path('long')]);
  assert.match(shown, /[█░]{24} \d+ lines, \d+% {2}\d+:\d\d left/);
  const percents = [...shown.matchAll(/, (\d+)%/g)].map(([, percent]) => Number(percent));
  assert.deepEqual(percents, [...percents].sort((a, b) => a - b));
  assert.ok(percents.every((percent) => percent <= 100));
  assert.match(onTerminal(['evaluate', '--model', model(), '--data', path('valid.tsv')]), /translated \d+ of 20/);
});

test('a pipe has no end that is known, so its lines alone are shown', () => {
  const shown = onTerminal(['translate', '--model', model()], 'eins\nzwei\n');
  assert.match(shown, /2 lines/);
  assert.doesNotMatch(shown, /%|left/);
});

test('tokenizer shows reading, loading and learning; the last with the time left', () => {
  for (const type of ['bpe', 'unigram']) {
    const shown = onTerminal(['tokenizer', '--input', path('words'), '--vocab-size', '600', '--type', type, '--output', path('many.model')]);
    assert.match(shown, /reading \S+words: \d+%/, type);
    assert.match(shown, /loading sentences: \d+%/, type);
    assert.match(shown, /learning pieces: \d+%/, type);
  }
  // So many different words that learning takes longer than the time between two updates.
  writeFileSync(path('different'), Array.from({ length: 60_000 }, (_, i) => `${((i * 1_299_709) % 2_147_483_647).toString(36)}\n`).join(''));
  const shown = onTerminal(['tokenizer', '--input', path('different'), '--vocab-size', '4000', '--type', 'bpe', '--output', path('many.model')]);
  assert.match(shown, /learning pieces: [1-9]\d?% {2}\d+:\d\d left/);
});

test('import shows reading, converting and writing, in bytes of all', () => {
  const folder = join(import.meta.dirname, '../fixtures/marian/tiny');
  const shown = onTerminal(['import-marian', folder, '--output', path('imported.safetensors')]);
  assert.match(shown, /reading \d+\.\d of (\d+\.\d) MB/);
  assert.match(shown, /converting/);
  assert.match(shown, /writing (\d+\.\d) of \1 MB/);
});

test('no progress is shown elsewhere than on a terminal, and none with --quiet', () => {
  const translated = (...more) => ['translate', '--model', model(), '--input', path('source'), ...more];
  assert.equal(succeed(...translated()).stderr, '');
  assert.equal(onTerminal(translated('--quiet')), '');
  assert.equal(onTerminal(['tokenizer', '--input', path('text'), '--vocab-size', '40', '--type', 'char', '--output', path('quiet.model'), '--quiet']), '');
  assert.equal(onTerminal(train('quiet', '--max-steps', '3', '--report-every', '1', '--quiet')), '');
  const { options } = JSON.parse(readFileSync(path('quiet/log.jsonl'), 'utf8').split('\n')[0]);
  assert.equal(options.quiet, undefined, 'it says nothing about the run');
});

test('warnings are shown with --quiet too', () => {
  const { stderr, status } = run(['translate', '--model', model(), '--quiet'], { input: Buffer.from([0x67, 0xfc, 0x0a]) });
  assert.equal(status, 1);
  assert.match(stderr, /line 1 is not UTF-8/);
});
