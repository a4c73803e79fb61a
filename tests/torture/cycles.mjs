// Models are loaded, used and disposed of 200 times, or 10,000 with --hours: after the first 100 times memory does not
// grow.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Engine } from '../../dist/worker/engine.js';
import { fixtureBytes, sentences } from '../js/support.mjs';

let times;

/** The growth of each figure of `measure` after the first 100 of `times` cycles. */
export async function growth(times, cycle, measure) {
  let first;
  for (let i = 0; i < times; i++) {
    await cycle(i);
    if (i === 99) first = measure();
  }
  return measure().map((value, i) => value - first[i]);
}

async function inOneEngine(figures) {
  const engine = await Engine.create();
  const bytes = fixtureBytes();
  const cycle = (i) => {
    const translator = engine.load(bytes);
    translator.translate(sentences[i % sentences.length], { beamSize: 1 + (i % 3), attention: i % 2 === 0 });
    translator.dispose();
  };
  const [grown, live] = await growth(times, cycle, () => [engine.memoryBytes, engine.liveObjects]);
  figures[`bytes grown in the module after ${times} cycles`] = grown;
  return grown === 0 && live === 0 ? '' : `the module's memory has grown by ${grown} bytes, objects by ${live}`;
}

async function withWorkers(figures) {
  // With one arena, because glibc otherwise keeps free memory of ended threads in up to eight per core.
  const child = fork(fileURLToPath(new URL('workers.mjs', import.meta.url)), [times], { env: { ...process.env, MALLOC_ARENA_MAX: '1' } });
  const [answer] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
  if (answer?.heap === undefined) return `the process with the workers ended with ${answer ?? 'a signal'}`;
  const { wrong, heap, resident, resources } = answer;
  figures[`bytes grown in the heap after ${times} workers`] = heap;
  figures['bytes grown of the process'] = resident;
  if (wrong > 0) return `${wrong} translations differ`;
  return heap < 1e6 && resident < 64e6 && resources <= 2 ? ''
    : `the heap has grown by ${heap} bytes, the process by ${resident}, open resources by ${resources}`;
}

const ways = [inOneEngine, withWorkers];

export default {
  prepare({ isLong }) {
    times = isLong ? 10_000 : 200;
  },
  cases: () => ways.length,
  attempt: (i, _, figures) => ways[i](figures),
  isWhole: true, // however long it takes
};
