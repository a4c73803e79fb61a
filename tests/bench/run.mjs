// `npm run bench [-- --peers | --real | --learning | --labelled DIR | --ablations | --browsers | --long | --newcomer |
// --environments | --page] [--json] [--only REGEX] [--quick] [--seeds N] [--multi30k DIR] [--atis FILE]`: see README.md. What it
// prints on standard output is a table or, with --json, one array; everything else goes to standard error.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { brotliCompressSync } from 'node:zlib';
import { isStale } from '../../bindings/tools/build.mjs';
import { root } from '../../bindings/tools/shell.mjs';
import { ablationTable, measureAblations } from './ablations.mjs';
import { measureArms } from './arms.mjs';
import { measureBrowsers } from './browsers.mjs';
import { modelFile, shapes } from './data.mjs';
import { measure, stop } from './driver.mjs';
import { measureEnvironments } from './environments.mjs';
import { measurePage } from './frames.mjs';
import { labelled } from './labelled.mjs';
import { learning } from './learning.mjs';
import { measureLong } from './long.mjs';
import { multi30k } from './multi30k.mjs';
import { measureNewcomer } from './newcomer.mjs';
import { installPeers } from './peers.mjs';
import { chapterJobs, goals, groups, modelFiles, modelPath } from './plan.mjs';

const { values: options } = parseArgs({
  options: {
    peers: { type: 'boolean' }, json: { type: 'boolean' }, quick: { type: 'boolean' },
    only: { type: 'string' }, multi30k: { type: 'string' }, atis: { type: 'string' }, learning: { type: 'boolean' }, browsers: { type: 'boolean' },
    labelled: { type: 'string' }, real: { type: 'boolean' }, long: { type: 'boolean' }, newcomer: { type: 'boolean' }, page: { type: 'boolean' }, ablations: { type: 'boolean' },
    environments: { type: 'boolean' },
    seeds: { type: 'string', default: '20' }, minutes: { type: 'string', default: '4' },
  },
});
const results = join(root, 'build/bench');
const log = (text) => console.error(`> ${text}`);
const wanted = (text) => !options.only || new RegExp(options.only).test(text);
const settings = { ...(options.quick ? { rounds: 3, ms: 80 } : { rounds: 5, ms: 400 }), log };
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const round = (value) => Number(value.toPrecision(4));

const units = [
  [/^(gemm|peak) int8/, 'GOP/s'], [/^(gemm|peak)/, 'GFLOP/s'], [/tokens\/s/, 'tokens/s'], [/words\/s/, 'words/s'], [/\bms\b/, 'ms'],
  [/^frames/, '/s'], [/^%/, '%'], [/growth/, 'bytes'], [/memory/, 'MB'], [/^seconds/, 's'], [/^exactMatch/, '%'], [/^(bleu|BLEU)/, ''], [/wasm /, 'KB'],
];
const unit = (name) => units.find(([pattern]) => pattern.test(name))?.[1] ?? '';

function build() {
  const isPackageOnly = options.real || options.browsers || options.long || options.newcomer;
  const parts = [[options.ablations || options.labelled, 'native'], [isPackageOnly, 'package'], [options.page, 'site'], [true, 'bench']];
  const [, part] = parts.find(([isIt]) => isIt);
  const { status } = spawnSync(process.execPath, [join(root, 'bindings/tools/build.mjs'), part],
    { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('The build failed');
  mkdirSync(results, { recursive: true });
  if (part !== 'bench') return;
  for (const [shape, precision] of modelFiles) {
    const path = modelPath(shape, precision);
    if (isStale(path, ['tests/bench/data.mjs'])) writeFileSync(path, modelFile(shapes[shape], precision));
  }
}

// Sizes of what a page downloads, which the program for Node is not.
function moduleSizes(figures) {
  for (const name of readdirSync(join(root, 'dist/wasm')).filter((folder) => folder !== 'cli')) {
    const isExtras = name === 'extras';
    const bytes = readFileSync(join(root, 'dist/wasm', name, isExtras ? 'extras.wasm' : 'wasmformer.wasm'));
    figures.set(`wasm module, raw: ${name}`, [bytes.length / 1000]);
    figures.set(`wasm module, brotli: ${name}`, [brotliCompressSync(bytes).length / 1000]);
    goals.push({ of: `wasm module, brotli: ${name}`, to: [], goal: isExtras ? 440 : 390, atMost: true });
  }
}

// Every system must have done the same work: the same tokens in float, the same first losses.
function check(figures) {
  const known = new Map();
  for (const [name, [first]] of figures) {
    const [what, who] = name.split(': ');
    if (!Array.isArray(first) || who.includes('int8')) continue;
    const key = `${what.replace(/, batch \d+/, '')} ${first.length}`;
    const other = known.get(key) ?? known.set(key, { who, first }).get(key);
    const same = first.every((value, i) => Math.abs(value - other.first[i]) <= 1e-3 * Math.abs(value));
    if (!same) log(`${what} of ${who} and of ${other.who} differ: ${first} and ${other.first}`);
  }
}

// The rows of the table: every figure, then every goal that the figures speak of.
function rows(figures) {
  const numbers = [...figures].map(([name, values]) => [name, values.filter(Number.isFinite)])
    .filter(([, values]) => values.length > 0);
  const known = new Map(numbers);
  const all = numbers.map(([name, values]) => ({ name, value: round(median(values)), unit: unit(name) }));
  for (const { of, to, peer, goal, atMost } of goals) {
    const peers = to.filter((name) => known.has(name)).map((name) => figures.get(name));
    if (!known.has(of) || (to.length > 0 && peers.length === 0)) continue;
    const isTime = unit(of) === 'ms';
    const ratios = figures.get(of).map((value, i) => {
      const others = peers.map((values) => values[i]).filter(Number.isFinite);
      if (atMost) return value / others[0];
      return isTime ? Math.min(...others) / value : value / Math.max(...others);
    }).filter(Number.isFinite);
    const row = { name: of, value: round(median(known.get(of))), unit: unit(of), ...(peer && { peer }) };
    if (to.length > 0 && ratios.length > 0) row.ratio = round(median(ratios));
    all.push({ ...row, goal, met: atMost ? (row.ratio ?? row.value) <= goal : (row.ratio ?? row.value) >= goal });
  }
  return all;
}

function table(all) {
  const lines = all.map(({ name, value, unit, peer, ratio, goal, met }) => [
    name, `${value} ${unit}`, peer ?? '', ratio === undefined ? '' : `${ratio} x`, String(goal ?? ''),
    met === undefined ? '' : met ? 'met' : 'missed',
  ]);
  const head = ['what', 'value', 'beside', 'ratio', 'goal', ''];
  const widths = head.map((title, i) => Math.max(title.length, ...lines.map((line) => line[i].length)));
  return [head, ...lines].map((line) => line.map((cell, i) => cell.padEnd(widths[i])).join('  ').trimEnd()).join('\n');
}

async function measureSpeed(figures) {
  moduleSizes(figures);
  for (const { own, others } of Object.values(groups)) {
    const jobs = [...own, ...(options.peers ? others : [])].filter(({ title, who }) => wanted(`${title}, ${who}`));
    if (jobs.length === 0) continue;
    for (const [name, values] of await measure(jobs, settings)) figures.set(name, values);
  }
  if (options.multi30k) multi30k(options.multi30k, figures, { ...settings, quick: options.quick });
}

async function measureChapter(figures) {
  for (const all of chapterJobs(options.quick ? 20 : 100)) {
    const jobs = all.filter(({ title, who }) => wanted(`${title}, ${who}`));
    for (const [name, values] of await measure(jobs, { log, warmsUp: false, rounds: 1 })) figures.set(name, values);
  }
}

/** Counts in how many seeds each claim of the laboratory holds. */
async function ablate() {
  const lines = await measureAblations({ seeds: Number(options.seeds), wanted, log });
  console.log(options.json ? JSON.stringify(lines, null, 2) : ablationTable(lines));
}

async function main() {
  build();
  if (options.ablations && !options.page) return ablate();
  if (options.peers || options.real) installPeers(log);
  const figures = new Map();
  if (options.learning) await learning(figures, goals, { wanted, corpus: options.multi30k, atis: options.atis, quick: options.quick, log });
  else if (options.labelled) labelled(options.labelled, figures, { minutes: options.minutes, wanted, log });
  else if (options.ablations) await measureArms(figures, { wanted, log });
  else if (options.page) await measurePage(figures, goals, { wanted, quick: options.quick, log });
  else if (options.real) await measureChapter(figures);
  else if (options.browsers) await measureBrowsers(figures, { ...settings, wanted });
  else if (options.long) await measureLong(figures, { quick: options.quick, wanted, log });
  else if (options.environments) measureEnvironments(figures, { wanted, log });
  else if (options.newcomer) await measureNewcomer(figures, { wanted, log });
  else await measureSpeed(figures);
  await stop();
  check(figures);
  const all = rows(figures);
  const time = new Date().toISOString().replaceAll(':', '-');
  const kept = { options, rows: all, rounds: Object.fromEntries(figures) };
  writeFileSync(join(results, `${time}.json`), JSON.stringify(kept, null, 1));
  console.log(options.json ? JSON.stringify(all.map(({ met, ...row }) => row), null, 2) : table(all));
}

let status = 0;
try {
  await main();
} catch (error) {
  console.error(error.message);
  await stop();
  status = 1;
}
// The helpers that open pages load Node's test runner, which would print a report of no tests.
process.exit(status);
