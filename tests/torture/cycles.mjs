// Models are loaded, used and disposed of 200 times, or 10,000 with --hours: after the first 100 times, the module
// does not grow, and the heap and the process stay within limits.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Translator } from '../../dist/index.js';
import { Engine } from '../../dist/worker/engine.js';
import { fixtureBytes, fixturePath, sentences } from '../js/support.mjs';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');
let times;

/** The growth of each figure of `measure` after the first 100 of `times` cycles. */
async function growth(cycle, measure) {
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
  const [grown, live] = await growth(cycle, () => [engine.memoryBytes, engine.liveObjects]);
  figures[`bytes grown in the module after ${times} cycles`] = grown;
  return grown === 0 && live === 0 ? '' : `the module's memory has grown by ${grown} bytes, objects by ${live}`;
}

async function withWorkers(figures) {
  const translate = async (options) => {
    const translator = await Translator.load(fixturePath, options);
    const { text } = await translator.translate(sentences[3]);
    translator.dispose();
    return text;
  };
  const text = await translate();
  let wrong = 0;
  const used = () => {
    gc();
    return [process.memoryUsage().heapUsed, process.memoryUsage().rss, process.getActiveResourcesInfo().length];
  };
  const [heap, resident, resources] = await growth(async () => (wrong += (await translate()) !== text), used);
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
