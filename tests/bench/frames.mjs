// `npm run bench -- --page`: how fluent the built page is. The frames of the picture while it plays, and the tasks that
// keep the page from answering while it translates and trains.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { firstTranslation } from './arrival.mjs';
import { builtPage, box, start, translated } from '../e2e/support.mjs';

const screen = { viewport: { width: 1366, height: 900 } };
const TEXT = 'Heute gehe ich mit meiner Schwester in den Park und.';

// These run in the page.
function watchFrames() {
  globalThis.frames = [];
  const look = (time) => {
    frames.push(time);
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

/** Of the times of frames: frames a second, and the percentage of them that took longer than each bound. */
export function fluency(times, bounds) {
  const lengths = times.slice(1).map((time, i) => time - times[i]);
  const over = (bound) => (100 * lengths.filter((length) => length > bound).length) / lengths.length;
  return { perSecond: (1000 * lengths.length) / (times.at(-1) - times[0]), over: bounds.map(over) };
}

/**
 * The main thread's tasks while `use` runs: their durations, and their processor times, which other programs do not
 * lengthen. In ms.
 */
async function tasksOf(page, use) {
  const browser = page.context().browser();
  await browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline'] });
  await use();
  const { traceEvents } = JSON.parse(await browser.stopTracing());
  const mains = new Set(traceEvents.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
    .map(({ pid, tid }) => `${pid} ${tid}`));
  return traceEvents.filter(({ name, pid, tid, dur }) => dur && /RunTask$/.test(name) && mains.has(`${pid} ${tid}`))
    .map(({ dur, tdur }) => ({ ms: dur / 1000, own: (tdur ?? 0) / 1000 }));
}

async function play(site, model, ms) {
  const { page, close } = await site.open(screen, undefined, `#picture?model=${model}`);
  await page.getByTestId('figure').waitFor({ state: 'attached' });
  await page.waitForTimeout(1000); // what arriving takes is not of the animation
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await page.evaluate(watchFrames);
  const tasks = await tasksOf(page, () => page.waitForTimeout(ms));
  if (!(await page.getByRole('button', { name: 'Pause', exact: true }).isVisible())) throw new Error(`${model} was over before ${ms} ms`);
  const frames = await page.evaluate(() => globalThis.frames);
  await close();
  return { frames, tasks };
}

/** Makes the page's processor look this many times slower; the workers keep their speed. */
const slow = async (page, times) =>
  (await page.context().newCDPSession(page)).send('Emulation.setCPUThrottlingRate', { rate: times });

async function type(site, slower) {
  const { page, close } = await site.open(screen);
  await slow(page, slower);
  await translated(page);
  const tasks = await tasksOf(page, async () => {
    await box(page).fill('');
    await page.keyboard.type(TEXT, { delay: 60 });
    await translated(page);
  });
  await close();
  return tasks;
}

async function train(site, card, ms, slower) {
  const { page, close } = await site.open(screen, undefined, '#train');
  await slow(page, slower);
  const tasks = await tasksOf(page, async () => {
    await page.getByRole('button', { name: card }).first().click();
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    await page.waitForTimeout(ms);
  });
  await close();
  return tasks;
}

export async function measurePage(figures, goals, { wanted, quick, log }) {
  const site = await start();
  const note = (name, value, goal, atMost) => {
    figures.set(name, [value]);
    if (goal !== undefined) goals.push({ of: name, to: [], goal, atMost });
  };
  const noteTasks = (tasks, title, longest = 50) => {
    note(`longest task ms, ${title}`, Math.max(0, ...tasks.map(({ ms }) => ms)), longest, true);
    note(`longest task ms of processor time, ${title}`, Math.max(0, ...tasks.map(({ own }) => own)));
    note(`tasks over ${longest} ms, ${title}`, tasks.filter(({ ms }) => ms > longest).length);
  };
  try {
    for (const [megabits, longest] of [[1.6, 30], [10, 6]]) {
      const what = `first own translation at ${megabits} Mbit/s`;
      if (!wanted(what)) continue;
      log(what);
      const { typed, translated } = await firstTranslation(megabits);
      note(`s until a sentence can be typed at ${megabits} Mbit/s`, typed);
      note(`s until the ${what}`, translated, longest, true);
    }
    const files = readdirSync(join(builtPage, 'models')).filter((file) => file.endsWith('.safetensors'));
    const models = files.map((file) => file.replace('.safetensors', ''));
    for (const model of models.filter((model) => wanted(`picture, ${model}`))) {
      log(`the picture of ${model} plays`);
      const { frames, tasks } = await play(site, model, quick ? 3000 : 8000);
      const { perSecond, over } = fluency(frames, [17, 34]);
      note(`frames/s, picture, ${model}`, perSecond, 59);
      note(`% of frames over 17 ms, picture, ${model}`, over[0]);
      note(`% of frames over 34 ms, picture, ${model}`, over[1]);
      note(`ms of processor time per frame, picture, ${model}`, tasks.reduce((sum, { own }) => sum + own, 0) / frames.length);
      noteTasks(tasks, `picture, ${model}`);
    }
    for (const [slower, longest] of [[1, 50], [4, 120]]) {
      const title = (what) => (slower > 1 ? `${what}, page ${slower} times slower` : what);
      if (wanted('translating')) noteTasks(await type(site, slower), title('translating'), longest);
      for (const card of ['Reverse', 'German → English']) {
        const what = `training, ${card}`;
        if (wanted(what)) noteTasks(await train(site, card, quick ? 10_000 : 40_000, slower), title(what), longest);
      }
    }
  } finally {
    await site.stop();
  }
}
