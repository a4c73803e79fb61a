// Runs several calls at the same time, in one worker or in several, and aborts calls and disposes of objects at random
// moments. Each call gives its answer, rejects with the reason of its abort, or says that its object was disposed of; the
// other objects keep working, and no worker is left running.
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { abortAfter, calls, prepareInputs, objectOf, open, takeUnhandled } from './calls.mjs';

const names = Object.keys(calls);
const expected = {};
let files, meanTime, threadsBefore;

const threads = () => readdirSync('/proc/self/task').length;

/** Waits up to ten seconds for additional threads to end; resolves to how many are left. */
async function threadsLeft() {
  for (let tries = 0; threads() > threadsBefore && tries < 500; tries++) await sleep(20);
  return threads() - threadsBefore;
}

/** The translator, and what the calls `wanted` need besides. */
async function openAll(wanted, random) {
  const made = { ...files, step: 0 };
  made.translator = await open.translator(made, { threads: 1 + random(2) });
  for (const name of new Set(wanted.map(objectOf))) {
    made[name] ??= await open[name](made, random(2) ? { shareWith: made.translator } : {});
  }
  return made;
}

async function call(name, made, disposed, { wait, delay }, figures) {
  await sleep(wait);
  const { answer, error, isLate } = await abortAfter(name, made, delay);
  if (isLate) return 'has not ended after a minute';
  if (!error) return isDeepStrictEqual(answer, expected[name]) ? '' : `answers ${JSON.stringify(answer)}`;
  const isAborted = Number.isFinite(delay) && error.message === 'aborted here';
  const isDisposed = disposed.has(objectOf(name)) && error.message.includes('has been disposed of');
  if (!isAborted && !isDisposed) return String(error.stack);
  const what = isAborted ? 'aborted' : 'disposed of';
  figures[what] = (figures[what] ?? 0) + 1;
  return '';
}

async function dispose(name, made, disposed, wait) {
  await sleep(wait);
  disposed.add(name);
  made[name].dispose();
}

export default {
  async prepare() {
    files = await prepareInputs();
    const made = await openAll(names, () => 0);
    const begin = performance.now();
    for (const name of names) expected[name] = await calls[name](made);
    meanTime = (performance.now() - begin) / names.length;
    for (const name of Object.keys(open)) made[name].dispose();
    await sleep(1000);
    threadsBefore = threads();
  },
  cases: () => Infinity,
  async attempt(i, random, figures) {
    const wanted = Array.from({ length: 2 + random(7) }, () => names[random(names.length)]);
    // A run cannot be run twice at the same time.
    const chosen = wanted.filter((name, k) => name !== 'run' || wanted.indexOf(name) === k);
    const made = await openAll(chosen, random);
    const opened = Object.keys(open).filter((name) => made[name]);
    const disposed = new Set();
    // All is drawn here, since the order of what follows depends on timers.
    const times = chosen.map(() => ({ wait: random() * meanTime, delay: random(3) ? Infinity : random() * meanTime }));
    const ends = opened.filter(() => random(4) === 0).map((name) => dispose(name, made, disposed, random() * meanTime));
    const problems = await Promise.all(chosen.map(async (name, k) => {
      const problem = await call(name, made, disposed, times[k], figures);
      return problem && `${name}: ${problem}`;
    }));
    await Promise.all(ends);
    for (const name of ['translate', 'classify', 'tag', 'pipeline']) {
      const object = objectOf(name);
      if (!opened.includes(object) || disposed.has(object)) continue;
      if (!isDeepStrictEqual(await calls[name](made), expected[name])) problems.push(`${name} has another answer afterwards`);
    }
    for (const name of opened) made[name].dispose();
    const left = await threadsLeft();
    if (left > 0) problems.push(`${left} threads still running`);
    problems.push(...takeUnhandled().map((reason) => `unhandled rejection: ${reason}`));
    return problems.filter((problem) => problem).map((problem) => `${problem} (of ${chosen}; disposed of: ${[...disposed]})`).join('\n');
  },
};
