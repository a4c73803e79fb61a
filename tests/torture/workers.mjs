// Loads, uses and disposes of `times` models, each in a worker of its own; sends how much memory has grown since the
// 100th.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Translator } from '../../dist/index.js';
import { fixturePath, sentences } from '../js/support.mjs';
import { growth } from './cycles.mjs';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');

async function translate() {
  const translator = await Translator.load(fixturePath);
  const { text } = await translator.translate(sentences[3]);
  translator.dispose();
  return text;
}

function used() {
  gc();
  return [process.memoryUsage().heapUsed, process.memoryUsage().rss, process.getActiveResourcesInfo().length];
}

const text = await translate();
let wrong = 0;
const [heap, resident, resources] = await growth(Number(process.argv[2]), async () => (wrong += (await translate()) !== text), used);
process.send({ wrong, heap, resident, resources }, () => process.disconnect());
