// Trains on the built page as a visitor does, and watches it meanwhile: the page's tasks, and the tab's memory.
import { buildPage } from '../../bindings/tools/build.mjs';
import { start } from '../e2e/support.mjs';
import { download, drop, stored } from '../e2e/views.mjs';

// Runs in the page.
async function look() {
  globalThis.tasks ??= [];
  globalThis.observer ??= new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration)));
  observer.observe({ type: 'longtask', buffered: true });
  const { bytes } = await performance.measureUserAgentSpecificMemory();
  return { longest: Math.max(0, ...tasks), long: tasks.length, megabytes: bytes / 1e6 };
}

/**
 * `setup`: what a link to the Train view says; `files`: [name, bytes] each, dropped on it.
 * @returns a look a minute, the points of the curves, and the model's file
 */
export async function trainOnPage({ setup, files, screenshot, log }) {
  buildPage();
  const site = await start();
  try {
    const hash = `#train?setup=${setup}`;
    const { page } = await site.open(undefined, undefined, files ? '#train' : hash);
    page.setDefaultTimeout(0);
    if (files) {
      await drop(page, ...files);
      await page.locator('caption', { hasText: 'pairs' }).waitFor();
      await page.evaluate((wanted) => (location.hash = wanted), hash);
    }
    await page.getByRole('button', { name: 'Start training' }).click();
    const looks = [];
    for (let ended = false; !ended; ) {
      await page.waitForTimeout(60_000);
      ended = await page.locator('.runs').getByText(/^(finished|broke off)$/).first().isVisible();
      looks.push(await page.evaluate(look));
      await page.screenshot({ path: screenshot, fullPage: true });
      log(`page, minute ${looks.length}: ${JSON.stringify(looks.at(-1))}`);
    }
    const press = () => page.locator('.runs').getByRole('button', { name: 'Download the model', exact: true }).click();
    const { bytes: model } = await download(page, press);
    const [{ points }] = await stored(page);
    return { looks, points, model };
  } finally {
    await site.stop();
  }
}
