// What a training step costs with more ranks than there are here: a model of compute, update and network, fitted to steps of
// one and two ranks on this machine, and its figures for clusters.
//   node tests/bench/scaling.mjs --data FILE --tokenizer FILE [--steps 12]
// needs build/native/wasmformer_mpi (`npm test` builds it) and two processors that nothing else uses.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../../bindings/tools/shell.mjs';

const { values } = parseArgs({ options: {
  data: { type: 'string' }, tokenizer: { type: 'string' }, steps: { type: 'string', default: '12' },
} });
if (!values.data || !values.tokenizer) throw new Error('usage: scaling.mjs --data FILE --tokenizer FILE [--steps 12]');
const env = { ...process.env, OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1',
  OMPI_MCA_btl_vader_single_copy_mechanism: 'none' };

/** Median seconds of a step, with one thread per rank. */
async function measure(ranks, ...options) {
  const output = mkdtempSync(join(tmpdir(), 'scaling-'));
  writeFileSync(join(output, 'valid.tsv'), readFileSync(values.data, 'utf8').split('\n').slice(0, 10).join('\n'));
  const child = spawn('mpirun', ['--bind-to', 'none', '-n', ranks, join(root, 'build/native/wasmformer_mpi'), 'train',
    '--data', values.data, '--valid-data', join(output, 'valid.tsv'), '--tokenizer', values.tokenizer, '--preset', 'small', '--threads', '1',
    '--output', output, '--max-steps', values.steps, '--report-every', '1', ...options], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let told = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (told += text));
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(told);
  const times = readFileSync(join(output, 'log.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line).seconds);
  rmSync(output, { recursive: true });
  // Without the last one, which is followed by a validation.
  const steps = times.slice(1, -1).map((time, i) => time - times[i]).sort((p, q) => p - q);
  return steps[Math.floor(steps.length / 2)];
}

/** The constants of this machine. */
async function fit() {
  const tokens = 2048;
  const one = await measure(1, '--batch-tokens', tokens);
  // The computing of two ranks without the sum of gradients: two processes at the same time, each with half of the tokens.
  const apart = await Promise.all([0, 1].map(() => measure(1, '--batch-tokens', tokens / 2)));
  const two = await measure(2, '--batch-tokens', tokens);
  const update = Math.max(2 * one - await measure(1, '--batch-tokens', tokens, '--accumulate', 2), 0);
  // With a sentence per batch there is no computing that could hide the sum.
  const reduce = await measure(2, '--batch-tokens', 1) - await measure(1, '--batch-tokens', 1);
  const alone = (one - update) / 2 + update, without = (apart[0] + apart[1]) / 2;
  const predicted = alone + (1 - models.small[1]) * reduce;
  console.log(`one rank ${one.toFixed(3)} s per step, two ranks ${two.toFixed(3)} s: ${(two / one).toFixed(3)}`);
  console.log(`update: ${update.toFixed(3)} s; summing gradients alone takes ${reduce.toFixed(3)} s;`,
    `without the sum, two ranks would take ${without.toFixed(3)} s per step, so ${(two - without).toFixed(3)} s are not hidden`);
  console.log(`predicted for two ranks: ${predicted.toFixed(3)} s, ${(predicted / two).toFixed(2)} of the measured`);
  return { flops: (6 * models.small[0] * tokens) / (one - update), update: update / models.small[0] };
}

// Weights, with 8,000 pieces for small and the 37,000 of the paper (table 3) for the others.
// [all, the share in layers]
const models = { small: [7.6e6, 0.73], base: [63e6, 0.7], big: [214e6, 0.82] };

/**
 * Seconds of a step. Compute: 6 FLOP per weight and token, divided among the ranks. Update: a time per weight in each of them.
 * All-reduce in rings: each rank sends and receives 2 (n - 1) / n of the gradients, and waits 2 (n - 1) times for a message.
 * Backward, two thirds of computing, hides what belongs to layers: all but the table of pieces, which is complete last.
 */
function step({ weights, layers, tokens, ranks, flops, update, bandwidth, latency, bytes = 4 }) {
  const compute = (6 * weights * tokens) / ranks / flops;
  const messages = 2 * (ranks - 1); // none with one rank
  const reduce = (share) => messages * ((share * weights * bytes) / ranks / bandwidth + latency);
  return compute + update * weights + Math.max(reduce(layers) - (2 / 3) * compute, 0) + reduce(1 - layers);
}

/** How many times as fast as one rank. A rank is a node of `cores` such processors, which share its work without loss. */
function table({ flops, update }, cores) {
  const lines = ['| model | network | 8 ranks | 64 | 512 | 512, bf16 gradients | 512, 8 times the tokens |', '| --- | --- | --- | --- | --- | --- | --- |'];
  for (const [name, [weights, layers]] of Object.entries(models)) {
    for (const [network, bandwidth, latency] of [['10 Gbit/s', 1.25e9, 30e-6], ['100 Gbit/s', 12.5e9, 3e-6]]) {
      const given = { weights, layers, tokens: 25_000, flops: cores * flops, update: update / cores, bandwidth, latency };
      const times = (more) => (step({ ...given, ...more, ranks: 1 }) / step({ ...given, ...more })).toFixed(0);
      lines.push(`| ${name} | ${network} | ${[8, 64, 512].map((ranks) => times({ ranks })).join(' | ')} | ${times({ ranks: 512, bytes: 2 })} | `
        + `${times({ ranks: 512, tokens: 200_000 })} |`);
    }
  }
  return lines.join('\n');
}

console.log(table(await fit(), 16));
