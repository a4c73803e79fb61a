// A tab runs out of memory: the module's cannot grow beyond a limit, which rises page by page. Each call gives the
// right answer, or says in one sentence that memory ran out and gives the right answer once there is more.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { checkRequest } from '../../dist/api/arguments.js';
import { Engine } from '../../dist/worker/engine.js';
import { beginTraining } from '../../dist/worker/training.js';
import { spread } from './campaign.mjs';
import { fixtureBytes, sentences } from '../js/support.mjs';

const pageBytes = 65_536;
// The limit, in pages of 64 KiB. Shared memory gets it when created.
let most = Infinity;
const { Memory } = WebAssembly;
const { grow } = Memory.prototype;
Memory.prototype.grow = function (pages) {
  if (this.buffer.byteLength / pageBytes + pages > most) throw new RangeError('WebAssembly.Memory.grow(): no more memory');
  return grow.call(this, pages);
};
WebAssembly.Memory = new Proxy(Memory, {
  construct: (_, [wanted]) => new Memory({ ...wanted, maximum: Math.min(wanted.maximum, Math.max(most, wanted.initial)) }),
});

const encoder = new Uint8Array(readFileSync(new URL('../../web/public/encoders/ewt.safetensors', import.meta.url)));
const settings = { task: { name: 'reverse', pairs: 50 }, config: { d_model: 64, ffn_dim: 128, num_heads: 2, batch_tokens: 1000 } };
const { question } = checkRequest('train', settings, false);
const tsv = Array.from({ length: 40_000 }, (_, i) => `Ich habe ${i} Hunde.\tI have ${i} dogs.\n`).join('');
const corpus = checkRequest('train', { tsv, tokenizer: { type: 'char' }, config: settings.config }, false).question;

function drained(steps) {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

// Each makes a model of some kind, uses it and disposes of it.
const calls = {
  translate(engine) {
    const translator = engine.load(fixtureBytes());
    try {
      return translator.translate([...sentences, sentences.join(' ')], { attention: true, beamTrace: true, internals: true });
    } finally {
      translator.dispose();
    }
  },
  tag(engine) {
    const tagger = engine.loadFor('tag', encoder);
    try {
      return drained(tagger.annotate(Array(20).fill('Anna lives in Hamburg .'), '{"attention":true}', 'tag'));
    } finally {
      tagger.dispose();
    }
  },
  async train(engine) {
    const training = await beginTraining(engine.instance, question, new Uint8Array());
    try {
      drained(training.run('{"steps":5}'));
      return training.save(true, true, {});
    } finally {
      training.dispose();
    }
  },
  // All texts are passed to the module as one string.
  async corpus(engine) {
    const training = await beginTraining(engine.instance, corpus, new Uint8Array());
    try {
      return training.info;
    } finally {
      training.dispose();
    }
  },
};
const isShortage = (error) => error.message === '[memory] there is not enough memory for this';

/** An engine whose initial 16 MB are filled with models, so that calls must grow it. */
async function fullEngine(threads) {
  const engine = await Engine.create({ threads });
  const atFirst = engine.memoryBytes;
  try {
    while (engine.memoryBytes === atFirst) engine.load(fixtureBytes());
  } catch (error) {
    if (!isShortage(error)) throw error;
  }
  return engine;
}

/** `problem`: what goes wrong with at most `limit` pages, or ''; `isShort`: memory ran out. */
async function attempt({ name, threads, answer }, limit) {
  const what = `${name} with ${threads} threads and ${limit} pages of memory`;
  if (threads > 1) most = limit; // shared memory gets its limit when created
  const engine = await fullEngine(threads);
  const models = engine.liveObjects;
  most = limit;
  let failure;
  try {
    if (!isDeepStrictEqual(await calls[name](engine), answer)) return { problem: `${what} gives a wrong answer` };
  } catch (error) {
    failure = error;
  } finally {
    most = Infinity;
  }
  if (failure && !isShortage(failure)) return { problem: `${what} says ${failure.stack}` };
  if (engine.liveObjects !== models) return { problem: `${what} leaks ${engine.liveObjects - models} objects` };
  const isRight = threads > 1 || isDeepStrictEqual(await calls[name](engine), answer);
  return { problem: isRight ? '' : `after ${what}, the answer is wrong`, isShort: failure !== undefined };
}

// Cases run in workers, replaced after a while: an engine keeps its memory and threads as long as its thread runs.
if (!isMainThread && workerData?.ways) {
  parentPort.on('message', async ({ way, limit }) => parentPort.postMessage(await attempt(workerData.ways[way], limit)));
}
const casesPerWorker = 40;
const ways = Object.keys(calls).flatMap((name) => [1, 2].map((threads) => ({ name, threads })));
let worker;
let used = 0;

export default {
  async prepare() {
    for (const way of ways) {
      const engine = await fullEngine(way.threads);
      way.least = engine.memoryBytes / pageBytes;
      way.answer = await calls[way.name](engine);
      way.pages = engine.memoryBytes / pageBytes - way.least;
    }
  },
  cases: () => Infinity,
  async attempt(i, _, figures) {
    if (used++ % casesPerWorker === 0) {
      await worker?.terminate();
      worker = new Worker(new URL(import.meta.url), { workerData: { ways } });
    }
    const way = i % ways.length;
    worker.postMessage({ way, limit: ways[way].least + spread(Math.floor(i / ways.length), ways[way].pages) });
    const [{ problem, isShort }] = await once(worker, 'message');
    if (isShort) figures['without enough memory'] = (figures['without enough memory'] ?? 0) + 1;
    return problem;
  },
  finish() {
    used = 0;
    return worker?.terminate();
  },
};
