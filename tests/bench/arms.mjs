// `npm run bench -- --ablations --page [--only REGEX]`: the laboratory in Chromium. For each ablation the seconds from
// "Start" to the first curve, of each arm of the first seed, and of all of them; and the seconds of each row of Table 3.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../bindings/tools/shell.mjs';
import { start } from '../e2e/support.mjs';

const screen = { viewport: { width: 1366, height: 900 } };
const LONGEST = 15 * 60_000;
const LONGEST_ROW = 5 * 60_000;

// Runs in the page: presses Start and watches the column of the first seed until no arm of it is waiting or running.
function timesOfFirstSeed(longest) {
  const start = [...document.querySelectorAll('main button')].find(({ textContent }) => textContent.trim() === 'Start');
  const begun = performance.now();
  const seconds = () => (performance.now() - begun) / 1000;
  const arms = new Map();
  let curve;
  start.click();
  return new Promise((resolve, reject) => {
    function look() {
      if (curve === undefined && document.querySelector('.plot .name')) curve = seconds();
      const rows = [...document.querySelectorAll('main fieldset tbody tr')];
      for (const row of rows) {
        const name = row.querySelector('th').innerText;
        const cell = row.querySelector('td.number');
        const isRunning = cell?.classList.contains('going');
        if (isRunning && !arms.has(name)) arms.set(name, { from: seconds() });
        const arm = arms.get(name);
        if (arm && arm.to === undefined && cell && !isRunning) arm.to = seconds();
      }
      const isDone = rows.length > 0 && arms.size === rows.length && [...arms.values()].every(({ to }) => to !== undefined);
      if (!isDone && seconds() * 1000 < longest) return;
      clearInterval(timer);
      if (isDone) resolve({ curve, all: seconds(), arms: [...arms].map(([name, { from, to }]) => [name, to - from]) });
      else reject(new Error('the arms have not ended'));
    }
    const timer = setInterval(look, 50);
  });
}

/** Trains all rows of Table 3, as many at once as the page has workers; the page keeps the seconds of each. */
async function measureTable3(site, figures, log) {
  log('table-3');
  const { page, close } = await site.open(screen, undefined, '#laboratory?ablation=table-3');
  await page.getByRole('button', { name: /^Train/ }).first().waitFor();
  await page.evaluate(() => document.querySelectorAll('main tbody button').forEach((button) => button.click()));
  const rows = await page.locator('main tbody tr').count();
  // Runs in the page: its results, once every row has one.
  const allResults = (count) => {
    const results = JSON.parse(localStorage.getItem('wasmformer.table3') ?? '{}');
    return Object.keys(results).length === count && results;
  };
  const found = await page.waitForFunction(allResults, rows, { timeout: rows * LONGEST_ROW });
  for (const [id, { seconds, perplexity, bleu }] of Object.entries(await found.jsonValue())) {
    figures.set(`seconds, Table 3: ${id}`, [seconds]);
    log(`${id}: ${seconds.toFixed(0)} s, perplexity ${perplexity.toFixed(2)}, BLEU ${bleu.toFixed(1)}`);
  }
  await close();
}

export async function measureArms(figures, { wanted, log }) {
  const ablations = JSON.parse(readFileSync(join(root, 'web/src/laboratory/ablations.json'), 'utf8'));
  const site = await start();
  try {
    for (const { id } of ablations.filter((ablation) => wanted(ablation.id))) {
      log(id);
      const { page, close } = await site.open(screen, undefined, `#laboratory?ablation=${id}`);
      page.setDefaultTimeout(LONGEST + 60_000);
      await page.getByRole('button', { name: 'Start', exact: true }).waitFor();
      const { curve, all, arms } = await page.evaluate(timesOfFirstSeed, LONGEST);
      await close();
      figures.set(`seconds, ${id}: first curve`, [curve]);
      for (const [name, seconds] of arms) figures.set(`seconds, ${id}: ${name}`, [seconds]);
      figures.set(`seconds, ${id}: all arms, one seed`, [all]);
    }
    if (wanted('table-3')) await measureTable3(site, figures, log);
  } finally {
    await site.stop();
  }
}
