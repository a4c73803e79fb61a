// Memory over many sentences, calls at once and aborts, in Node as in a tab.
import { Translator } from '../../../dist/index.js';

const sentences = ['Ich habe einen Hund.', 'Wo ist der Bahnhof?', 'Danke!', 'Guten Morgen!'];
const greedy = { beamSize: 1 };
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const milliseconds = async (call) => {
  const start = performance.now();
  await call();
  return performance.now() - start;
};

// A number at the end makes every sentence another one.
function *numbered(count) {
  for (let i = 0; i < count; i++) yield `${sentences[i % sentences.length]} ${i}`;
}

/** Translates `marks.at(-1)` sentences; after each number of them in `marks`, adds what look() finds. `load`: options. */
export async function memory({ model, marks, load }, look) {
  const translator = await Translator.load(model, load);
  const looks = [];
  let next = 0;
  for await (const { index, text } of translator.translateAll(numbered(marks.at(-1)), greedy)) {
    if (index !== next || text === '') throw new Error(`sentence ${index} after ${next - 1} is '${text}'`);
    next += 1;
    if (marks.includes(next)) looks.push(await look());
  }
  translator.dispose();
  return looks;
}

/** Returns `count` once so many sentences are translated, in order, by a translator with the options `load`. */
export async function within({ model, count, load }) {
  const [done] = await memory({ model, marks: [count], load }, () => count);
  return done;
}

/**
 * `count` calls one after another and at once, in turns for some rounds: the median milliseconds of both, the median of the
 * ratios within a round, the milliseconds of the first call among the others, and the most calls that ended before an earlier
 * one. Throws if an answer differs.
 */
export async function crowd({ model, count, rounds }) {
  const translator = await Translator.load(model);
  const texts = [...numbered(count)];
  await translator.translate(texts, greedy);
  const all = [];
  for (let round = 0; round < rounds; round++) all.push(await crowdOnce(translator, texts));
  translator.dispose();
  const ratio = median(all.map(({ inTurn, atOnce }) => inTurn / atOnce));
  const [inTurn, atOnce, first] = ['inTurn', 'atOnce', 'first'].map((name) => median(all.map((one) => one[name])));
  return { inTurn, atOnce, first, ratio, late: Math.max(...all.map(({ late }) => late)) };
}

async function crowdOnce(translator, texts) {
  const alone = [];
  const inTurn = await milliseconds(async () => {
    for (const text of texts) alone.push((await translator.translate(text, greedy)).text);
  });
  const ended = [];
  let first;
  const start = performance.now();
  const atOnce = await milliseconds(() => Promise.all(texts.map(async (source, i) => {
    const { text } = await translator.translate(source, greedy);
    if (text !== alone[i]) throw new Error(`call ${i} says '${text}', alone '${alone[i]}'`);
    ended.push(i);
    if (i === 0) first = performance.now() - start;
  })));
  return { inTurn, atOnce, first, late: ended.filter((i, place) => i > place).length };
}

/** Aborts a call of 200 sentences `times` times: milliseconds to its rejection, and of the next call beside a call alone. */
export async function aborts({ model, times }) {
  const translator = await Translator.load(model);
  const many = [...numbered(200)];
  const one = () => translator.translate(sentences[0]);
  const alone = [];
  for (let i = 0; i < times; i++) alone.push(await milliseconds(one));
  const rejected = [];
  const next = [];
  for (let i = 0; i < times; i++) {
    const controller = new AbortController();
    const call = translator.translate(many, { signal: controller.signal });
    await new Promise((resolve) => setTimeout(resolve, 20 + 10 * i));
    rejected.push(await milliseconds(() => {
      controller.abort();
      return call.then(() => Promise.reject(new Error('the call ended before it was aborted')), () => {});
    }));
    next.push(await milliseconds(one));
  }
  translator.dispose();
  return { rejected: median(rejected), longest: Math.max(...rejected), next: median(next), alone: median(alone) };
}
