// Milliseconds of the processor that the engine takes for a forward and backward pass and a step of the bundled models, as
// Node runs them with one thread: `node tests/bench/backwards.mjs`. "copy" is what the first one waits for besides: int8
// weights become floats.
import { readFileSync } from 'node:fs';
import { Engine } from '../../dist/worker/engine.js';

const models = new URL('../../web/public/models/', import.meta.url);
const pairs = {
  'de-en': ['Ich habe gestern im Park einen alten Freund getroffen.', 'Yesterday I met an old friend in the park.'],
  'en-de': ['Yesterday I met an old friend in the park.', 'Ich habe gestern im Park einen alten Freund getroffen.'],
  'fr-en': ["Hier, j'ai rencontré un vieil ami au parc.", 'Yesterday I met an old friend in the park.'],
  'en-zh': ['Yesterday I met an old friend in the park.', '昨天我在公园里遇见了一位老朋友。'],
  'zh-en': ['昨天我在公园里遇见了一位老朋友。', 'Yesterday I met an old friend in the park.'],
};
const rounds = 9;
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

function timed(work) {
  const begin = process.cpuUsage(); // others may use the machine
  const result = work();
  const { user, system } = process.cpuUsage(begin);
  return { result, ms: (user + system) / 1000 };
}

const engine = await Engine.create();
for (const [name, [source, target]] of Object.entries(pairs)) {
  const translator = engine.load(new Uint8Array(readFileSync(new URL(`${name}.safetensors`, models))));
  const { result: learner, ms: copy } = timed(() => translator.learning());
  const before = learner.backward(source, target).loss;
  const steps = Array.from({ length: rounds }, () => timed(() => learner.step(source, target, 0.05)).ms);
  const after = learner.backward(source, target).loss;
  const figures = { copy, 'forward, backward, step': median(steps), most: Math.max(...steps) };
  const text = Object.entries(figures).map(([what, ms]) => `${what} ${ms.toFixed(0)} ms`).join(', ');
  console.log(`${name}: ${text}; loss ${before.toFixed(3)} → ${after.toFixed(3)}`);
  learner.dispose();
  translator.dispose();
}
engine.dispose();
