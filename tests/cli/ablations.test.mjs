// Models with a part of the paper's taken out, from training to translation, by the program.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { path, succeed, train } from './trained.mjs';

// Heads of 3 features for queries and keys fill no register, and no panel of packed weights.
const settings = ['positions=fractions', 'norm=none', 'residual=false', 'causal=false', 'key_dim=3', 'learning_rate=0.1']
  .flatMap((setting) => ['--set', setting]);
const model = (output) => path(`${output}/last.safetensors`);
const translated = (...options) =>
  succeed('translate', '--input', path('source'), '--max-length', '12', ...options).stdout.split('\n').slice(0, -1);

test('a model stores what was taken out, and resumes to the same bytes with other threads', () => {
  succeed(...train('bare', ...settings, '--max-steps', '20'));
  succeed(...train('bare', ...settings, '--max-steps', '40', '--resume', '--threads', '2'));
  succeed(...train('bare-whole', ...settings, '--max-steps', '40'));
  assert.ok(readFileSync(model('bare')).equals(readFileSync(model('bare-whole'))));
  const { config } = JSON.parse(succeed('inspect', model('bare'), '--json').stdout);
  const { positions, norm, residual, causal, key_dim: keyDim } = config;
  assert.deepEqual({ positions, norm, residual, causal, keyDim },
    { positions: 'fractions', norm: 'none', residual: false, causal: false, keyDim: 3 });
});

test('it translates one sentence as in a batch, with beams, with a shortlist and as int8', () => {
  const args = ['--model', model('bare-whole')];
  const beams = translated(...args, '--beam-size', '4', '--threads', '2');
  assert.equal(beams.length, 20);
  assert.deepEqual(translated(...args, '--beam-size', '4', '--batch-tokens', '1'), beams);
  succeed('shortlist', '--model', model('bare-whole'), '--data', path('train.tsv.gz'), '--output', path('bare-short.safetensors'));
  assert.equal(translated('--model', path('bare-short.safetensors'), '--beam-size', '4').length, 20);
  succeed('quantize', '--model', model('bare-whole'), '--output', path('bare-int8.safetensors'));
  assert.equal(translated('--model', path('bare-int8.safetensors'), '--beam-size', '4').length, 20);
});

test('without a causal mask the loss is lower, and nothing is translated', () => {
  const learned = (causal) => {
    const output = path(`causal-${causal}`);
    succeed('train', '--task', 'reverse', '--preset', 'toy', '--seed', '1', '--max-steps', '200', '--validate-every', '200',
      '--set', 'decay_steps=200', '--set', `causal=${causal}`, '--output', output);
    const log = readFileSync(`${output}/log.jsonl`, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
    return log.at(-1);
  };
  const [masked, unmasked] = [learned(true), learned(false)];
  assert.ok(masked.exact_match > 90, `${masked.exact_match} %`);
  assert.ok(unmasked.exact_match < 10, `${unmasked.exact_match} %`);
  assert.ok(unmasked.valid_loss < masked.valid_loss, 'each token sees the answer');
});
