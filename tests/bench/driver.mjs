// Runs jobs side by side: each lives in a page (or worker) of its own in one Chromium, in the tab of another browser, in
// this Node, or is a native program, and measures a little whenever its turn comes.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../../bindings/tools/shell.mjs';
import { serve } from '../../web/serve.mjs';
import { launch } from '../e2e/support.mjs';

let served, launched;
const site = () => (served ??= serve(root));

export async function stop() {
  await (await launched)?.close();
  const { server } = (await served) ?? {};
  server?.close();
  server?.closeAllConnections();
}

// Runs in the page.
async function openInPage({ module, params, inWorker }) {
  if (!globalThis.crossOriginIsolated) throw new Error('the page is not cross-origin isolated');
  if (!inWorker) {
    globalThis.measure = await (await import(module)).default(params);
    return;
  }
  const worker = new Worker('/tests/bench/jobs/worker.mjs', { type: 'module' });
  const ask = (question) => new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => (data.error ? reject(new Error(data.error)) : resolve(data.result));
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage(question);
  });
  await ask({ module, params });
  globalThis.measure = (ms) => ask({ ms });
}

/** An empty page of an own context; the project's root is served to it. */
export async function openPage() {
  const { address } = await site();
  const page = await (await (await (launched ??= launch())).newContext()).newPage();
  page.setDefaultTimeout(0);
  await page.goto(`${address}tests/bench/page.html`);
  return page;
}

const kinds = {
  async page(job) {
    const page = await openPage();
    const { module, params, inWorker } = job;
    await page.evaluate(openInPage, { module: `/tests/bench/jobs/${module}`, params, inWorker });
    return { measure: (ms) => page.evaluate((ms) => globalThis.measure(ms), ms), close: () => page.context().close() };
  },
  async tab({ browser, module, params }) {
    const { address } = await site();
    await browser.open(`${address}tests/bench/page.html`);
    await browser.evaluate(openInPage, { module: `/tests/bench/jobs/${module}`, params });
    return { measure: (ms) => browser.evaluate((ms) => globalThis.measure(ms), ms), close: () => browser.close() };
  },
  async node({ module, params }) {
    const measure = await (await import(`./jobs/${module}`)).default(params);
    return { measure, close() {} };
  },
  native({ program, args }) {
    const measure = async (ms) => {
      const { stdout } = await promisify(execFile)(program, [...args, String(ms)], { maxBuffer: 1 << 26 });
      return JSON.parse(stdout.trim().split('\n').at(-1));
    };
    return { measure, close() {} };
  },
};

export const bench = join(root, 'build/native/tests/bench/wasmformer_bench');

/**
 * Measures `jobs`, in turn and `rounds` times over, after a round that only warms up if `warmsUp`.
 * @returns one list a figure, by name: its value in each round, or undefined
 */
export async function measure(jobs, { rounds, ms, warmsUp = true, log }) {
  const open = [];
  const figures = new Map();
  const attempt = async (job, body) => {
    try {
      return await body();
    } catch (error) {
      job.failed = true;
      log(`${job.title}, ${job.who}: ${error.message.replaceAll(/\s+/g, ' ').slice(0, 300)}`);
      return undefined;
    }
  };
  for (const job of jobs) {
    log(`opening ${job.title}, ${job.who}`);
    const opened = await attempt(job, () => kinds[job.kind](job));
    if (opened) open.push([job, opened]);
  }
  for (let round = warmsUp ? 0 : 1; round <= rounds; round++) {
    log(round === 0 ? 'warming up' : `round ${round} of ${rounds}`);
    for (const [job, { measure }] of open) {
      if (job.failed) continue;
      const found = await attempt(job, () => measure(ms)) ?? {};
      for (const [key, value] of round === 0 ? [] : Object.entries(found)) {
        const name = `${job.prefix ? `${job.prefix}, ` : ''}${key}: ${job.who}`;
        if (!figures.has(name)) figures.set(name, []);
        figures.get(name)[round - 1] = value;
      }
    }
  }
  for (const [, { close }] of open) await close();
  return figures;
}
