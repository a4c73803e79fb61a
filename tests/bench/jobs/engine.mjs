// What only the engine inside the package's worker can tell: its memory, and the time of each step.
import { Engine } from '/dist/worker/engine.js';
import { modelFile, shapes, texts } from '../data.mjs';

const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];

// Milliseconds of each decoding step of one sentence, by the module's own job: the package's also decodes the text so far.
function steps(translator, text, length) {
  const job = translator.native.start([text], JSON.stringify({ beamSize: 1, maxLength: length }));
  const times = [];
  for (let last = performance.now(), more = true; more;) {
    more = job.stepToken();
    const time = performance.now();
    times.push(time - last);
    last = time;
  }
  job.delete();
  return times;
}

const tasks = {
  memory(engine, translator, name, batch) {
    const options = { beamSize: 1, maxLength: shapes[name].tokens };
    const translate = () => translator.translate(texts(shapes[name], batch), options);
    translate();
    translate();
    const before = engine.memoryBytes;
    for (let i = 0; i < 3; i++) translate();
    return {
      'module memory': engine.memoryBytes / 1e6,
      'memory growth': engine.memoryBytes - before,
    };
  },
  positions(engine, translator, name) {
    const figures = {};
    const [text] = texts(shapes[name], 1);
    for (const length of [16, 64, 128, 256, 512]) {
      const runs = Array.from({ length: Math.ceil(512 / length) }, () => steps(translator, text, length));
      figures[`ms a token at target length ${length}`] =
        median(runs.map((times) => times.reduce((a, b) => a + b) / length));
      // The first entry is the encoder's; the middle of neighbours, since one step is short.
      if (length === 512) {
        figures['ms a token at target position 16'] = median(runs[0].slice(10, 23));
        figures['ms a token at target position 512'] = median(runs[0].slice(500, 513));
      }
    }
    return figures;
  },
};

export default async function ({ task, shape, precision, batch }) {
  const engine = await Engine.create();
  const translator = engine.load(modelFile(shapes[shape], precision));
  return () => tasks[task](engine, translator, shape, batch);
}
