// Several calls of the package at the same time, in one worker or in several, of which some are aborted, and some objects
// disposed of, at random moments: each call gives its answer, the reason of its abort, or says that its object was
// disposed of; other objects work on, and no worker stays.
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { abortAfter, calls, makeFiles, objectOf, open, takeUnhandled } from './calls.mjs';

const names = Object.keys(calls);
const expected = {};
let files, longest, threadsBefore;

const threads = () => readdirSync('/proc/self/task').length;

/** Resolves to how many more threads there are than before, as soon as there are none, or after ten seconds. */
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

async function call(name, made, disposed, random, figures) {
  await sleep(random() * longest);
  const delay = random(3) ? undefined : random() * longest;
  const isAborted = delay !== undefined;
  const { answer, error, isLate } = await abortAfter(name, made, delay ?? 1e6);
  if (isLate) return 'has not ended after a minute';
  if (!error) return isDeepStrictEqual(answer, expected[name]) ? '' : `answers ${JSON.stringify(answer)}`;
  const what = error.message === 'aborted here' ? 'aborted' : 'disposed of';
  figures[what] = (figures[what] ?? 0) + 1;
  if (what === 'aborted' ? isAborted : disposed.has(objectOf(name)) && error.message.includes('has been disposed of')) return '';
  return String(error.stack);
}

async function dispose(name, made, disposed, random) {
  await sleep(random() * longest);
  disposed.add(name);
  made[name].dispose();
}

export default {
  async prepare() {
    files = await makeFiles();
    const made = await openAll(names, () => 0);
    const begin = performance.now();
    for (const name of names) expected[name] = await calls[name](made);
    longest = (performance.now() - begin) / names.length;
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
    const ends = opened.filter(() => random(4) === 0).map((name) => dispose(name, made, disposed, random));
    const problems = await Promise.all(chosen.map(async (name) => {
      const problem = await call(name, made, disposed, random, figures);
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
    if (left > 0) problems.push(`${left} threads stay`);
    problems.push(...takeUnhandled().map((reason) => `nobody handles ${reason}`));
    return problems.filter((problem) => problem).map((problem) => `${problem} (of ${chosen}; disposed of: ${[...disposed]})`).join('\n');
  },
};
