// Calls of the package are aborted at random moments: each rejects with the reason, or resolves to the right answer;
// the next call gives the right answer, and training continues with the same numbers.
import { isDeepStrictEqual } from 'node:util';
import { abortAfter, calls, prepareInputs, open, steps, takeUnhandled } from './calls.mjs';

const made = {};
const expected = {};
const milliseconds = {};

async function freshTrainer() {
  made.trainer?.dispose();
  Object.assign(made, { trainer: await open.trainer(), step: 0 });
}

/** Resolves to what is wrong with a call that is aborted after `delay` milliseconds. */
async function abort(name, delay, figures) {
  const { answer, error, isLate } = await abortAfter(name, made, delay);
  if (isLate) return 'it has not ended after a minute';
  if (error) {
    figures.aborted = (figures.aborted ?? 0) + 1;
    return error.message === 'aborted here' ? '' : String(error.stack);
  }
  return isDeepStrictEqual(answer, expected[name]) ? '' : `it answers ${JSON.stringify(answer)}`;
}

export default {
  async prepare() {
    Object.assign(made, await prepareInputs());
    for (const [name, make] of Object.entries(open)) made[name] = await make(made);
    made.step = 0;
    for (const [name, call] of Object.entries(calls)) {
      const begin = performance.now();
      expected[name] = await call(made);
      milliseconds[name] = performance.now() - begin;
    }
  },
  cases: () => Infinity,
  async attempt(i, random, figures) {
    const names = Object.keys(calls);
    const name = names[i % names.length];
    if (made.step > steps / 2) await freshTrainer();
    const delay = random(10) ? 1.1 * random() * milliseconds[name] : 0;
    const problem = await abort(name, delay, figures) || (await calls.translate(made) !== expected.translate && 'the next call has another answer')
      || takeUnhandled().map((reason) => `unhandled rejection: ${reason}`).join();
    return problem && `${name}, aborted after ${delay.toFixed(2)} ms: ${problem}`;
  },
  finish() {
    for (const name of Object.keys(open)) made[name].dispose();
  },
};
