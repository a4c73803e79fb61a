// `npm run bench -- --ablations [--seeds N] [--only REGEX]`: trains the arms of web/src/laboratory/ablations.json natively, one
// thread each, and counts in how many seeds each claim holds. What is trained is kept in build/bench/ablations by all that
// decides it, so that an interrupted run, or one with more seeds, goes on.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../../bindings/tools/shell.mjs';

const program = join(root, 'build/native/wasmformer');
const kept = join(root, 'build/bench/ablations');
const ablations = JSON.parse(readFileSync(join(root, 'web/src/laboratory/ablations.json'), 'utf8'));

/** Names of scores in the program's log, and what a run counts as that diverged. */
const SCORES = {
  exactMatch: { name: 'exact_match', lost: 0 },
  bleu: { name: 'bleu', lost: 0 },
  loss: { name: 'valid_loss', lost: Infinity },
};
const isLowerBetter = (metric) => metric === 'loss';

/** The flags of `train` for an arm. */
export function flagsOf({ task, pairs, longest, steps, base }, { set }, seed) {
  const settings = Object.entries({ ...base, ...set }).map(([key, value]) => `${key}=${value}`);
  return [
    '--task', task, '--preset', 'toy', '--seed', String(seed), '--threads', '1',
    '--max-steps', String(steps), '--validate-every', String(steps), '--report-every', String(steps),
    ...(pairs === undefined ? [] : ['--pairs', String(pairs)]),
    ...(longest === undefined ? [] : ['--longest', String(longest)]),
    ...settings.flatMap((setting) => ['--set', setting]),
  ];
}

/** The last validation of a run, and its seconds; null scores if it diverged. */
async function train(flags) {
  const name = createHash('sha256').update(JSON.stringify([flags, statSync(program).size])).digest('hex').slice(0, 24);
  const file = join(kept, `${name}.json`);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'));
  const output = mkdtempSync(join(tmpdir(), 'ablation-'));
  const begun = performance.now();
  const child = spawn(program, ['train', ...flags, '--output', output], { stdio: ['ignore', 'ignore', 'pipe'] });
  let told = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (told += text));
  const [status] = await once(child, 'close');
  const seconds = (performance.now() - begun) / 1000;
  const log = join(output, 'log.jsonl');
  const last = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').filter(Boolean).map(JSON.parse).at(-1) : undefined;
  const hasBegun = existsSync(join(output, 'options.json'));
  rmSync(output, { recursive: true });
  // Settings that cannot be are refused before this file is written; later only divergence ends a run with an error.
  if (status !== 0 && !hasBegun) throw new Error(`wasmformer train ${flags.join(' ')} failed: ${told.trim().split('\n').at(-1)}`);
  const result = { scores: status === 0 ? last : null, seconds };
  mkdirSync(kept, { recursive: true });
  writeFileSync(file, JSON.stringify(result));
  return result;
}

export const scoreOf = ({ scores }, metric) => scores?.[SCORES[metric].name] ?? SCORES[metric].lost;

/** In how many seeds a claim holds: `of(arm)` gives an arm's scores, seed by seed. */
export function countOf({ best, worse, metric }, of) {
  const others = of(worse);
  const isBetter = (one, other) => (isLowerBetter(metric) ? one < other : one > other);
  return of(best).filter((one, i) => isBetter(one, others[i])).length;
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const middle = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const rounded = (value, metric) => (Number.isFinite(value) ? value.toFixed(isLowerBetter(metric) ? 3 : 1) : '∞');

/** A line for each claim: its arms with mean, least and greatest score, and the count. */
function linesOf(ablation, results, seeds) {
  const of = (metric) => (arm) => results.get(arm).map((result) => scoreOf(result, metric));
  return [ablation.claim, ...(ablation.also ?? [])].map((claim) => {
    const told = (arm) => {
      const scores = of(claim.metric)(arm);
      const [least, most] = [Math.min(...scores), Math.max(...scores)].map((score) => rounded(score, claim.metric));
      return `${arm} ${rounded(mean(scores), claim.metric)} (${least} to ${most})`;
    };
    const sign = isLowerBetter(claim.metric) ? '<' : '>';
    const holds = countOf(claim, of(claim.metric));
    return { ablation: ablation.id, metric: claim.metric, claim: `${told(claim.best)} ${sign} ${told(claim.worse)}`, holds, seeds };
  });
}

/** Calls `work` for all items, as many at a time as there are processors. */
async function inParallel(items, work) {
  const left = [...items];
  const worker = async () => {
    for (let item = left.shift(); item; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
}

/** Trains all arms with seeds 1 to `seeds`; gives a line for each claim. `wanted(id)`: which ablations. */
export async function measureAblations({ seeds, wanted, log }) {
  const lines = [];
  for (const ablation of ablations.filter(({ id }) => wanted(id))) {
    const results = new Map(ablation.arms.map(({ id }) => [id, []]));
    const trials = Array.from({ length: seeds }, (_, i) => i + 1).flatMap((seed) => ablation.arms.map((arm) => ({ arm, seed })));
    await inParallel(trials, async ({ arm, seed }) => {
      results.get(arm.id)[seed - 1] = await train(flagsOf(ablation, arm, seed));
    });
    for (const { id } of ablation.arms) {
      const own = results.get(id);
      const scores = Object.keys(SCORES).map((metric) => `${metric} ${rounded(mean(own.map((one) => scoreOf(one, metric))), metric)}`);
      log(`${ablation.id}, ${id}: ${scores.join(', ')}; ${middle(own.map(({ seconds }) => seconds)).toFixed(1)} s`);
    }
    lines.push(...linesOf(ablation, results, seeds));
  }
  return lines;
}

/** The lines as a table of Markdown. */
export const ablationTable = (lines) => [
  '| ablation | score | claim: mean (least to greatest) | holds in |',
  '| --- | --- | --- | --- |',
  ...lines.map(({ ablation, metric, claim, holds, seeds }) => `| ${ablation} | ${metric} | ${claim} | ${holds} of ${seeds} |`),
].join('\n');
