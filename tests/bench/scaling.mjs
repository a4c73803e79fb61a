// What a training step costs with more ranks than there are here: a model with three constants, fitted to steps of one and
// two ranks on this machine, and its figures for clusters.
//   node tests/bench/scaling.mjs --data FILE --tokenizer FILE [--steps 20] [--preset small]
// needs build/native/wasmformer_mpi (`npm test` builds it) and two processors that nothing else uses.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../../bindings/tools/shell.mjs';

const { values } = parseArgs({ options: {
  data: { type: 'string' }, tokenizer: { type: 'string' }, steps: { type: 'string', default: '20' },
  preset: { type: 'string', default: 'small' }, tokens: { type: 'string', default: '4096' },
} });
const env = { ...process.env, OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1',
  OMPI_MCA_btl_vader_single_copy_mechanism: 'none' };

/** Median seconds of a step. */
function measure(ranks) {
  const output = mkdtempSync(join(tmpdir(), 'scaling-'));
  const { status, stderr } = spawnSync('mpirun', ['-n', ranks, join(root, 'build/native/wasmformer_mpi'), 'train',
    '--data', values.data, '--valid-data', values.data, '--tokenizer', values.tokenizer, '--preset', values.preset,
    '--batch-tokens', values.tokens, '--output', output, '--max-steps', values.steps, '--report-every', '1'], { encoding: 'utf8', env });
  if (status !== 0) throw new Error(stderr);
  const seconds = readFileSync(join(output, 'log.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line).seconds);
  rmSync(output, { recursive: true });
  const steps = seconds.slice(1, -1).map((time, i) => time - seconds[i]).sort((a, b) => a - b);  // the last one validates
  return steps[Math.floor(steps.length / 2)];
}

// Weights in millions as `wasmformer inspect` counts them with 8,000 pieces for small and the paper's 37,000 for the others.
const models = { small: 7.6e6, base: 63e6, big: 214e6 };

/**
 * Seconds of a step. Compute: 6 FLOP per weight and token. All-reduce in rings: each rank sends and receives 2 (n - 1) / n of
 * the gradients, and waits 2 (n - 1) times for a message. Backward, two thirds of the step, hides the share `overlap` of it.
 */
function step({ weights, tokens, ranks, flops, bandwidth, latency, overlap, bytes = 4, uneven = 1.05 }) {
  const compute = (6 * weights * tokens) / ranks / flops * (ranks > 1 ? uneven : 1);
  const reduce = ranks === 1 ? 0 : (2 * (ranks - 1) / ranks) * (weights * bytes) / bandwidth + 2 * (ranks - 1) * latency;
  return compute + Math.max(reduce - Math.min(overlap * reduce, (2 / 3) * compute), 0);
}

export function table({ flops, overlap }) {
  const lines = ['| model, tokens per update | network | 8 ranks | 64 | 512 | 512, bf16 gradients | 512, 8 times the tokens |',
    '| --- | --- | --- | --- | --- | --- | --- |'];
  for (const [name, tokens] of [['small', 25_000], ['base', 25_000], ['big', 25_000]]) {
    for (const [network, bandwidth, latency] of [['10 Gbit/s', 1.25e9, 30e-6], ['100 Gbit/s', 12.5e9, 3e-6]]) {
      const given = { weights: models[name], tokens, flops, bandwidth, latency, overlap };
      const times = (more) => (step({ ...given, ...more, ranks: 1 }) / step({ ...given, ...more })).toFixed(0);
      lines.push(`| ${name}, ${tokens.toLocaleString('en')} | ${network} | ${[8, 64, 512].map((ranks) => times({ ranks })).join(' | ')} | `
        + `${times({ ranks: 512, bytes: 2 })} | ${times({ ranks: 512, tokens: 8 * tokens })} |`);
    }
  }
  return lines.join('\n');
}

if (values.data) {
  const [one, two] = [measure(1), measure(2)];
  console.log(`one rank ${one.toFixed(3)} s, two ranks ${two.toFixed(3)} s per step: ${(two / one).toFixed(3)}`);
}
console.log(table({ flops: 500e9, overlap: 0.8 }));
