// `npm run bench -- --learning [--only REGEX] [--multi30k DIR]`: what is learned in headless Chromium and by the program,
// and how fast. The curve of each run stays in build/bench/learning, a JSON object a line.
import { appendFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../bindings/tools/shell.mjs';
import { openPage } from './driver.mjs';
import { minutes } from './minutes.mjs';
import { multi30kTokenizer, run } from './multi30k.mjs';
import { trainOnPage } from './page.mjs';

const folder = join(root, 'build/bench/learning');

const task = (name, goal, most) => ({ title: `task ${name}`, metric: 'exactMatch', goal, most, options: { task: name } });
const tatoeba = {
  title: '30,000 Tatoeba pairs, de-en',
  metric: 'bleu',
  goal: 15,
  train: { file: '/web/public/pairs/en-de.tsv.gz', swap: true },
  hold: 500,
  options: { budget: 2 }, // what the page's card begins with (web/src/train/fields.ts)
  run: { validateEvery: 200 },
};
/** Intents and slots, from rows of label, text and tags: as the page trains them, with the preset of encoders. */
const labelled = (title, metric, goal, most, file, hold, vocabSize, steps) => ({
  title, metric, goal, most, hold, train: { file, labelled: true },
  options: {
    tokenizer: { type: 'bpe', vocabSize },
    config: { schedule: 'cosine', learning_rate: 2e-3, warmup_steps: 200, decay_steps: steps },
  },
  run: { steps, validateEvery: 100 },
});
const inPage = [
  labelled('SNIPS intents', 'accuracy', 95, 120, '/web/public/labelled/snips.tsv.gz', 700, 4000, 1200),
  task('reverse', 99, 60), task('dates', 99, 120), task('add', 95), task('copy'), task('sort'), task('roman'),
  task('pig-latin'), tatoeba,
];

// The sizes of multi30k-tiny; with pre-norm and less dropout than the preset's, the pairs are learned in 25 passes. The rate falls
// to 0 at their end, so no checkpoints have to be averaged. A tab, half as fast, takes fewer steps.
const steps = { native: 5500, tab: 3500 };
const settings = {
  norm: 'pre', dropout: 0.2, schedule: 'cosine', learning_rate: 0.004, warmup_steps: 400, clip_norm: 1, batch_tokens: 2048,
};

async function learnInPage(job, log) {
  const curve = join(folder, `${job.title.replaceAll(/\W+/g, '-')}.jsonl`);
  writeFileSync(curve, '');
  const seen = [];
  const page = await openPage();
  await page.exposeFunction('report', (event) => {
    appendFileSync(curve, `${JSON.stringify(event)}\n`);
    seen.push(event);
    log(`${job.title}: ${event.wall.toFixed(0)} s, step ${event.step}, loss ${event.loss.toFixed(3)}, `
      + `${job.metric} ${event[job.metric].toFixed(1)}`);
  });
  await page.evaluate(async (params) => {
    const { default: learn } = await import('/tests/bench/jobs/learning.mjs');
    return learn(params, globalThis.report);
  }, job);
  await page.context().close();
  return seen;
}

/** Trains on the built page, which is to stay fluent. */
async function learnOnPage(title, setup, files, note, log) {
  const name = title.replaceAll(/\W+/g, '-');
  const { looks, points, model } = await trainOnPage({ setup, files, screenshot: join(folder, `${name}.png`), log });
  const lines = (all) => all.map((item) => `${JSON.stringify(item)}\n`).join('');
  writeFileSync(join(folder, `${name}.jsonl`), lines(points));
  writeFileSync(join(folder, `${name}-page.jsonl`), lines(looks));
  note(`longest task ms, ${title}`, looks.at(-1).longest, 50, true);
  // The second look: within the first minute there is no validation and no checkpoint yet.
  note(`memory growth, ${title}`, looks.at(-1).bytes - looks[1].bytes);
  return model;
}

/**
 * `atis`: a gzipped TSV file of intent, text and slots within the project, the last 500 rows for validation; `corpus`: the folder
 * with train, val and test_2016_flickr, .de.gz and .en.gz, or '' to leave Multi30k out.
 */
export async function learning(figures, goals, { wanted, corpus, atis, quick, log }) {
  mkdirSync(folder, { recursive: true });
  const note = (name, value, goal, atMost = false) => {
    figures.set(name, [value]);
    if (goal !== undefined) goals.push({ of: name, to: [], goal, atMost });
  };
  const all = atis ? [...inPage, labelled('ATIS slots', 'spanF1', 90, 300, `/${atis}`, 500, 900, 2000)] : inPage;
  for (const job of all.filter(({ title }) => wanted(title))) {
    const seen = await learnInPage(job, log);
    const reached = seen.find((event) => event[job.metric] >= job.goal);
    note(`${job.metric}, ${job.title}: Chromium`, seen.at(-1)[job.metric], job.goal);
    if (reached) note(`seconds to ${job.goal} ${job.metric}, ${job.title}: Chromium`, reached.wall, job.most, true);
  }
  if (wanted('the page while it trains')) {
    const setup = `data:de-en,goal:minutes,minutes:${quick ? 3 : 31}`;
    await learnOnPage('the page while it trains', setup, undefined, note, log);
  }
  if (!corpus) return;
  await minutes(corpus, figures, goals, { learnInPage, wanted, log });
  const tokenizer = multi30kTokenizer(corpus, log);
  const test = ['--source', join(corpus, 'test_2016_flickr.de.gz'), '--reference', join(corpus, 'test_2016_flickr.en.gz')];
  const score = (model, ...more) => JSON.parse(run(['evaluate', '--model', model, ...test, '--beam-size', '5',
    '--length-penalty', '1', '--threads', '2', '--json', ...more])).bleu;
  const scores = (who, model, goal) => {
    note(`BLEU lower-cased, Multi30k de-en: ${who}`, score(model, '--lowercase'), goal);
    note(`BLEU, Multi30k de-en: ${who}`, score(model));
  };
  if (wanted('Multi30k, native')) {
    const output = join(folder, 'multi30k');
    rmSync(output, { recursive: true, force: true });
    const set = Object.entries({ ...settings, decay_steps: steps.native })
      .flatMap(([key, value]) => ['--set', `${key}=${value}`]);
    log('Multi30k, native: at most 30 minutes');
    run(['train', '--source', join(corpus, 'train.de.gz'), '--target', join(corpus, 'train.en.gz'),
      '--valid-source', join(corpus, 'val.de.gz'), '--valid-target', join(corpus, 'val.en.gz'), '--tokenizer', tokenizer,
      '--preset', 'multi30k-tiny', ...set, '--output', output, '--max-steps', String(steps.native), '--max-minutes', '30',
      '--threads', '2']);
    cpSync(join(output, 'log.jsonl'), join(folder, 'Multi30k-native.jsonl'));
    scores('wasmformer native', join(output, 'last.safetensors'), 41.5);
  }
  if (wanted('Multi30k, Chromium')) {
    const all = { data: 'own', vocab: 8000, goal: 'steps', steps: steps.tab, decay_steps: steps.tab, ...settings };
    const setup = Object.entries(all).map((entry) => entry.join(':'));
    const files = ['train.de.gz', 'train.en.gz'].map((name) => [name, readFileSync(join(corpus, name))]);
    const model = await learnOnPage('Multi30k, Chromium', setup.join(), files, note, log);
    writeFileSync(join(folder, 'multi30k-chromium.safetensors'), model);
    scores('wasmformer in Chromium', join(folder, 'multi30k-chromium.safetensors'), 40);
  }
}
