// Calls of the package for `aborts` and `together`: each always gives the same answer.
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Classifier, Tagger, Trainer, Translator } from '../../dist/index.js';
import { exportMarian, exportOnnx, importMarian } from '../../dist/convert/index.js';
import { cached, pivot } from '../../dist/webpages/index.js';
import { pipeline } from '../../dist/pipeline/index.js';
import { fixturePath, sentences } from '../js/support.mjs';

export const steps = 200;
const config = { d_model: 16, ffn_dim: 32, num_heads: 2, encoder_layers: 1, decoder_layers: 1, batch_tokens: 200 };
export const task = { task: { name: 'reverse', pairs: 50 }, config, threads: 1 };
const pairs = [['abc', 'cba'], ['xy', 'yx']];

async function all(items) {
  const found = [];
  for await (const item of items) found.push(item);
  return found;
}
const text = ({ text }) => text;
const batch = Array(40).fill(sentences[2]);
const labelled = Array.from({ length: 40 }, (_, i) => [i % 2 ? 'music' : 'other', i % 2 ? 'play jazz now' : 'now in rome']);
const tagged = labelled.map(([, words]) => [words.split(' '), words.split(' ').map((word) => (word === 'rome' ? 'B-place' : 'O'))]);
const marian = fileURLToPath(new URL('../fixtures/marian/tiny', import.meta.url));
const sizes = (files) => Object.entries(files).map(([name, bytes]) => [name, bytes.size ?? bytes.length]);
const page = `<p>${sentences[0]} <b>${sentences[2]}</b></p>`;

export const calls = {
  translate: ({ translator }, signal) => translator.translate(sentences[2], { signal }).then(text),
  batch: async ({ translator }, signal) => (await translator.translate(batch, { signal })).map(text),
  maps: async ({ translator }, signal) =>
    (await translator.translate(sentences[2], { signal, attention: true, beamTrace: true, internals: true, alignment: true })).text,
  html: async ({ translator }, signal) => (await translator.translate(page, { signal, html: true })).html,
  translateText: async ({ translator }, signal) => (await translator.translateText(sentences.join(' '), { signal })).text,
  translateAll: async ({ translator }, signal) =>
    (await all(translator.translateAll(batch, { signal, batchSize: 4 }))).map(text),
  pivot: async ({ translator }, signal) => {
    const nameless = { info: {}, translate: (texts, options) => translator.translate(texts, options) };
    return (await pivot(nameless, nameless).translate(sentences.slice(0, 3), { signal })).map(text);
  },
  cached: async ({ translator }, signal) =>
    (await cached(translator, { bytes: 1e6 }).translate(sentences.slice(0, 3), { signal })).map(text),
  pipeline: async ({ translate }, signal) => (await translate(sentences[2], { signal })).map(({ translation_text: found }) => found),
  classify: async ({ classifier }, signal) => (await classifier.classify(batch, { signal })).map(({ labels }) => labels[0].label),
  tag: async ({ tagger }, signal) => (await tagger.tag(batch, { signal })).map(({ tokens }) => tokens.map(({ tag }) => tag)),
  importMarian: async (_, signal) => (await importMarian(marian, { signal })).size,
  exportMarian: async ({ imported }, signal) => sizes(await exportMarian(imported, { signal })),
  exportOnnx: async (_, signal) => sizes(await exportOnnx(fixturePath, { signal })),
  stream: ({ translator }, signal) => all(translator.stream(sentences[2], { signal })),
  load: async (_, signal) => {
    const loaded = await Translator.load(fixturePath, { signal });
    loaded.dispose();
    return loaded.info;
  },
  create: async (_, signal) => {
    const created = await Trainer.create({ ...task, signal });
    created.dispose();
    return created.info.trainPairs;
  },
  resume: async ({ saved }, signal) => {
    const resumed = await Trainer.resume(saved, { signal });
    resumed.dispose();
    return resumed.info.trainPairs;
  },
  evaluate: async ({ trainer }, signal) => (await trainer.evaluate(pairs, { signal })) && 'evaluated',
  save: async ({ trainer }, signal) => (await trainer.save({ signal })) && 'saved',
  // The first report after an abort also covers steps whose own report was not delivered, so its loss differs.
  run: async (made, signal) => {
    let isFirst = made.step > 0;
    for await (const { step, loss } of made.trainer.run({ steps: 5, reportEvery: 1, signal })) {
      if (!isFirst && loss !== made.losses[step - 1]) throw new Error(`the loss of step ${step} is ${loss}, not ${made.losses[step - 1]}`);
      made.step = step;
      isFirst = false;
    }
    return 'trained';
  },
};

/** The object that each call needs. Calls that are not listed need the translator or nothing. */
const objects = { pipeline: 'translate', classify: 'classifier', tag: 'tagger', evaluate: 'trainer', save: 'trainer', run: 'trainer' };
export const objectOf = (name) => objects[name] ?? 'translator';

/** Opens each kind of object; `options`: for example `shareWith`. */
export const open = {
  translator: (_, options) => Translator.load(fixturePath, options),
  translate: (_, options) => pipeline('translation', fixturePath, options),
  classifier: ({ encoder }, options) => Classifier.load(encoder, options),
  tagger: ({ encoder }, options) => Tagger.load(encoder, options),
  trainer: (_, options = {}) => Trainer.create({ ...task, ...options, threads: options.shareWith ? undefined : 1 }),
};

/** Files that calls need, and the losses of the first steps of `task`. */
export async function prepareInputs() {
  const whole = await Trainer.create(task);
  const losses = (await all(whole.run({ steps, reportEvery: 1 }))).map(({ loss }) => loss);
  const saved = await whole.save();
  whole.dispose();
  const { decoder_layers: _, ...sizes } = config;
  const joint = await Trainer.create({ labelled, tagged, tokenizer: { type: 'word' }, config: sizes, threads: 1 });
  await all(joint.run({ steps: 5 }));
  const encoder = await joint.save({ optimizer: false });
  joint.dispose();
  return { losses, saved, encoder, imported: await importMarian(marian) };
}

/** What has gone unhandled since the last call. */
export const takeUnhandled = () => unhandled.splice(0);
const unhandled = [];
process.on('unhandledRejection', (reason) => unhandled.push(reason));

/** Resolves to the answer or the error of a call that is aborted after `delay` milliseconds (Infinity: never), or to { isLate: true }. */
export async function abortAfter(name, made, delay) {
  const controller = new AbortController();
  const timer = Number.isFinite(delay) ? setTimeout(() => controller.abort(new Error('aborted here')), delay) : undefined;
  const call = calls[name](made, controller.signal).then((answer) => ({ answer }), (error) => ({ error }));
  const outcome = await Promise.race([call, sleep(60_000, { isLate: true }, { ref: false })]);
  clearTimeout(timer);
  return outcome;
}
