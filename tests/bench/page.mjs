// Trains on the built page as a visitor does, and watches it meanwhile: the page's tasks, and the tab's memory.
import { buildPage } from '../../bindings/tools/build.mjs';
import { start } from '../e2e/support.mjs';
import { download, drop, stored } from '../e2e/views.mjs';

// These run in the page.
function watch() {
  globalThis.tasks = [];
  globalThis.observer = new PerformanceObserver((list) => tasks.push(...list.getEntries()));
  observer.observe({ type: 'longtask' });
}

async function look() {
  const [longest] = tasks.map(({ duration, startTime }) => ({ ms: duration, at: startTime / 1000 })).sort((a, b) => b.ms - a.ms);
  const { bytes } = await performance.measureUserAgentSpecificMemory();
  return { seconds: performance.now() / 1000, longest: longest?.ms ?? 0, at: longest?.at, long: tasks.length, bytes };
}

/**
 * `setup`: what a link to the Train view says; `files`: [name, bytes] each, dropped on it.
 * @returns looks, a minute and their own time apart, with the last validation; the points of the curves; the model's file
 */
export async function trainOnPage({ setup, files, screenshot, log }) {
  buildPage();
  const site = await start();
  try {
    const hash = `#train?setup=${setup}`;
    const { page } = await site.open(undefined, undefined, files ? '#train' : hash);
    await page.getByRole('heading', { name: 'Train a model' }).waitFor();
    if (files) {
      await drop(page, ...files);
      await page.locator('caption', { hasText: 'pairs' }).waitFor();
      await page.evaluate((wanted) => (location.hash = wanted), hash);
    }
    await page.evaluate(watch);
    await page.getByRole('button', { name: 'Start training' }).click();
    const looks = [];
    const cockpit = page.locator('.cockpit');
    const isIn = (state) => cockpit.getByText(state, { exact: true }).isVisible();
    for (;;) {
      await page.waitForTimeout(60_000);
      if (await isIn('failed')) throw new Error(await cockpit.getByRole('alert').first().innerText());
      if (await isIn('finished')) break;
      const [{ points } = { points: [] }] = await stored(page); // none while the run is being prepared
      const { step, valid } = points.filter((point) => point.valid).at(-1) ?? {};
      looks.push({ ...(await page.evaluate(look)), step, ...valid });
      await page.screenshot({ path: screenshot, fullPage: true });
      log(`page: ${JSON.stringify(looks.at(-1))}`);
    }
    const press = () => cockpit.getByRole('button', { name: 'Download the model', exact: true }).click();
    const { bytes: model } = await download(page, press);
    const [{ points }] = await stored(page);
    return { looks, points, model };
  } finally {
    await site.stop();
  }
}
