// What a training step costs with more ranks than there are here: a model of compute and update, fitted to steps on this
// machine, and of networks with nominal bandwidth and latency. Prints its figures for clusters.
//   node tests/bench/scaling.mjs --data FILE --tokenizer FILE [--steps 12] [--links 1gbit]
// needs build/native/wasmformer_mpi (`npm test` builds it) and two processors that nothing else uses. With --links (Linux,
// as root), each of up to 8 ranks runs in its own network namespace, behind a link limited to that rate in each direction.
import { execSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../../bindings/tools/shell.mjs';

const { values } = parseArgs({ options: {
  data: { type: 'string' }, tokenizer: { type: 'string' }, steps: { type: 'string', default: '12' }, links: { type: 'string' },
} });
if (!values.data || !values.tokenizer) throw new Error('usage: scaling.mjs --data FILE --tokenizer FILE [--steps 12] [--links 1gbit]');
const env = { ...process.env, OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1',
  OMPI_MCA_btl_vader_single_copy_mechanism: 'none' };

const mostLinked = 8;
const agent = join(tmpdir(), `wasmformer-link-${process.pid}`);
/** Namespaces link1 to link8, with addresses 10.9.0.1 to 10.9.0.8, on a bridge. */
function openLinks() {
  const shape = `root tbf rate ${values.links} burst 1mb latency 100ms`;
  closeLinks(); // an interrupted run may have left some
  const commands = ['ip link add links type bridge', 'ip addr add 10.9.0.254/24 dev links', 'ip link set links up'];
  for (let i = 1; i <= mostLinked; i++) {
    commands.push(`ip netns add link${i}`, `ip link add link${i} type veth peer name eth netns link${i}`, `ip link set link${i} master links up`,
      `ip -n link${i} addr add 10.9.0.${i}/24 dev eth`, `ip -n link${i} link set eth up`, `ip -n link${i} link set lo up`,
      `tc qdisc add dev link${i} ${shape}`, `ip netns exec link${i} tc qdisc add dev eth ${shape}`);
  }
  for (const command of commands) execSync(command);
  // Replaces ssh: mpirun calls it with an address and a command.
  writeFileSync(agent, '#!/bin/sh\ni=${1##*.}\nshift\nexec ip netns exec link$i unshare -u sh -c "hostname link$i; $*"\n', { mode: 0o755 });
}
function closeLinks() {
  for (let i = 1; i <= mostLinked; i++) execSync(`ip link del link${i}; ip netns del link${i}; true`, { stdio: 'ignore' });
  execSync('ip link del links; true', { stdio: 'ignore' });
  rmSync(agent, { force: true });
}
const acrossLinks = (ranks) => ['-host', Array.from({ length: ranks }, (_, i) => `10.9.0.${i + 1}:1`).join(),
  ...Object.entries({ plm: 'rsh', plm_rsh_agent: agent, plm_rsh_no_tree_spawn: 1, btl: 'tcp,self', btl_tcp_if_include: '10.9.0.0/24', oob_tcp_if_include: '10.9.0.0/24' })
    .flatMap(([name, value]) => ['--mca', name, value])];

/** Median seconds of a step, with one thread per rank. */
async function measure(ranks, ...options) {
  const output = mkdtempSync(join(tmpdir(), 'scaling-'));
  writeFileSync(join(output, 'valid.tsv'), readFileSync(values.data, 'utf8').split('\n').slice(0, 10).join('\n'));
  const child = spawn('mpirun', ['--bind-to', 'none', '-n', ranks, ...(values.links ? acrossLinks(ranks) : []), join(root, 'build/native/wasmformer_mpi'), 'train',
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
  // The update takes the same time with an eighth of the tokens, and the rest an eighth.
  const update = Math.max((8 * await measure(1, '--batch-tokens', tokens / 8) - one) / 7, 0);
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
 * All-reduce by Rabenseifner's algorithm: each rank sends and receives 2 (n - 1) / n of the gradients, and waits 2 log2(n)
 * times for a message.
 * Backward, two thirds of computing, hides what belongs to layers: all but the embedding table, which is complete last.
 */
function step({ weights, layers, tokens, ranks, flops, update, bandwidth, latency, bytes = 4 }) {
  const compute = (6 * weights * tokens) / ranks / flops;
  const reduce = (share) => 2 * (((1 - 1 / ranks) * share * weights * bytes) / bandwidth + Math.log2(ranks) * latency); // 0 for one
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

/** Seconds that the sum of gradients takes alone: with the algorithm that Open MPI chooses, and with that of wasmformer. */
async function sums() {
  const without = await measure(1, '--batch-tokens', 1);
  for (const ranks of [2, 3, 4, 6, 8]) {
    env.OMPI_MCA_coll_libnbc_iallreduce_algorithm = '0';
    const [theirs, ours] = [await measure(ranks, '--batch-tokens', 1), (delete env.OMPI_MCA_coll_libnbc_iallreduce_algorithm, await measure(ranks, '--batch-tokens', 1))];
    console.log(`sum of gradients, ${ranks} ranks: ${(theirs - without).toFixed(2)} s with Open MPI's default, ${(ours - without).toFixed(2)} s with wasmformer's choice`);
  }
}

try {
  if (values.links) openLinks();
  console.log(table(await fit(), 16));
  if (values.links) await sums();
} finally {
  if (values.links) closeLinks();
}
