// `npm run bench -- --learning [--only REGEX] [--multi30k DIR]`: what is learnt in headless Chromium and by the program,
// and how fast. The curve of each run stays in build/bench/learning, a JSON object a line.
import { appendFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildPage } from '../../bindings/tools/build.mjs';
import { root } from '../../bindings/tools/shell.mjs';
import { start } from '../e2e/support.mjs';
import { openPage } from './driver.mjs';
import { multi30kTokenizer, run } from './multi30k.mjs';

const folder = join(root, 'build/bench/learning');
const served = '/build/bench/learning/corpus/';

const task = (name, goal, most) => ({ title: `task ${name}`, metric: 'exactMatch', goal, most, options: { task: name } });
const tatoeba = {
  title: '10,000 Tatoeba pairs, de-en',
  metric: 'bleu',
  goal: 11,
  train: { files: ['/web/public/pairs/en-de.tsv.gz'], swap: true },
  hold: 500,
  options: {
    preset: 'multi30k-tiny',
    tokenizer: { type: 'bpe', vocabSize: 2000 },
    config: { norm: 'pre', clip_norm: 1, learning_rate: 0.4, warmup_steps: 300, batch_tokens: 1024 },
  },
  run: { minutes: 15 },
};
const inPage = [
  task('reverse', 99, 60), task('dates', 99, 120), task('add', 95), task('copy'), task('sort'), task('roman'),
  task('pig-latin'), tatoeba,
];

// 3,000 steps are 27 passes; the rate falls to 0 at their end, so no checkpoints have to be averaged.
const schedule = { schedule: 'cosine', learning_rate: 0.004, warmup_steps: 500, decay_steps: 3000, clip_norm: 1 };
const batch = { batch_tokens: 4096 };

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
  const model = await page.evaluate(async (params) => {
    const { default: learn } = await import('/tests/bench/jobs/learning.mjs');
    return learn(params, globalThis.report);
  }, job);
  await page.context().close();
  return { seen, model: Buffer.from(model, 'base64') };
}

/** Trains German to English on the built page: its longest task, and what the tab's memory grows by after a minute. */
async function watchPage(minutes, note, log) {
  buildPage();
  const site = await start();
  const { page } = await site.open(undefined, undefined, `#train?setup=data:de-en,goal:minutes,minutes:${minutes + 1}`);
  page.setDefaultTimeout(0);
  const look = () => page.evaluate(async () => {
    globalThis.tasks ??= [];
    globalThis.observer ??= new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration)));
    observer.observe({ type: 'longtask', buffered: true });
    const { bytes } = await performance.measureUserAgentSpecificMemory();
    return { longest: Math.max(0, ...tasks), long: tasks.length, megabytes: bytes / 1e6 };
  });
  await page.getByRole('button', { name: 'Start training' }).click();
  const seen = [];
  for (let minute = 1; minute <= minutes; minute++) {
    await page.waitForTimeout(60_000);
    seen.push(await look());
    log(`page, minute ${minute}: ${JSON.stringify(seen.at(-1))}`);
  }
  await page.screenshot({ path: join(folder, 'page.png'), fullPage: true });
  await site.stop();
  writeFileSync(join(folder, 'page.jsonl'), seen.map((look) => `${JSON.stringify(look)}\n`).join(''));
  note('longest task ms, the page while it trains', seen.at(-1).longest, 50, true);
  note('memory growth MB after the first minute, the page while it trains', seen.at(-1).megabytes - seen[0].megabytes);
}

/** `corpus`: train, val and test_2016_flickr, .de.gz and .en.gz; '' leaves Multi30k out. */
export async function learning(figures, goals, { wanted, corpus, quick, log }) {
  mkdirSync(folder, { recursive: true });
  const note = (name, value, goal, atMost = false) => {
    figures.set(name, [value]);
    if (goal !== undefined) goals.push({ of: name, to: [], goal, atMost });
  };
  for (const job of inPage.filter(({ title }) => wanted(title))) {
    const { seen } = await learnInPage(job, log);
    const reached = seen.find((event) => event[job.metric] >= job.goal);
    note(`${job.metric}, ${job.title}: Chromium`, seen.at(-1)[job.metric], job.goal);
    if (reached) note(`seconds to ${job.goal} ${job.metric}, ${job.title}: Chromium`, reached.wall, job.most, true);
  }
  if (wanted('the page while it trains')) await watchPage(quick ? 3 : 30, note, log);
  if (!corpus) return;
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
    const set = Object.entries({ ...schedule, ...batch }).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
    log('Multi30k, native: at most 30 minutes');
    run(['train', '--source', join(corpus, 'train.de.gz'), '--target', join(corpus, 'train.en.gz'),
      '--valid-source', join(corpus, 'val.de.gz'), '--valid-target', join(corpus, 'val.en.gz'), '--tokenizer', tokenizer,
      '--preset', 'multi30k-tiny', ...set, '--output', output, '--max-steps', String(schedule.decay_steps), '--max-minutes', '30', '--threads', '2']);
    cpSync(join(output, 'log.jsonl'), join(folder, 'Multi30k-native.jsonl'));
    scores('wasmformer native', join(output, 'last.safetensors'), 41.5);
  }
  if (wanted('Multi30k, Chromium')) {
    const files = (part) => ({ files: ['de', 'en'].map((side) => `${served}${part}.${side}.gz`) });
    for (const name of ['train.de.gz', 'train.en.gz', 'val.de.gz', 'val.en.gz']) {
      cpSync(join(corpus, name), join(folder, 'corpus', name));
    }
    cpSync(tokenizer, join(folder, 'corpus/multi30k.model'));
    const { model } = await learnInPage({
      title: 'Multi30k, Chromium',
      metric: 'bleu',
      train: files('train'),
      valid: files('val'),
      tokenizer: `${served}multi30k.model`,
      options: { preset: 'multi30k-tiny', config: { ...schedule, ...batch } },
      run: { steps: schedule.decay_steps },
    }, log);
    writeFileSync(join(folder, 'multi30k-chromium.safetensors'), model);
    scores('wasmformer in Chromium', join(folder, 'multi30k-chromium.safetensors'), 40);
  }
}
