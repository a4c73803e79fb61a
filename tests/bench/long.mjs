// `npm run bench -- --long`: memory over 100,000 sentences, twenty calls at once and aborted calls, in Node and in a tab
// of Chromium; 10,000 sentences with threads in 256 MB, and what two tabs download of one model.
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { root } from '../../bindings/tools/shell.mjs';
import { serve } from '../../web/serve.mjs';
import { launch } from '../e2e/support.mjs';

const tiny = 'tests/fixtures/tiny-de-en.safetensors';
const bundled = 'web/public/models/de-en.safetensors';

async function inNode(task, params) {
  const { [task]: run } = await import('./jobs/long.mjs');
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc');
  const look = () => {
    gc();
    const { heapUsed, rss } = process.memoryUsage();
    return { 'memory of the heap': heapUsed / 1e6, 'memory of the process': rss / 1e6 };
  };
  return run({ ...params, model: join(root, params.model) }, look);
}

// Runs in the page.
async function runInPage([task, params]) {
  const { [task]: run } = await import('/tests/bench/jobs/long.mjs');
  const look = async () => {
    const { breakdown } = await performance.measureUserAgentSpecificMemory();
    const of = (scope) => breakdown.filter(({ attribution }) => attribution[0]?.scope === scope)
      .reduce((sum, { bytes }) => sum + bytes, 0) / 1e6;
    return { 'memory of the page': of('Window'), 'memory of the worker and its module': of('DedicatedWorkerGlobalScope') };
  };
  return run(params, look);
}

const load = async (model) => {
  const { Translator } = await import('/dist/index.js');
  const translator = await Translator.load(model);
  translator.dispose();
};

/** Downloads of a model by two tabs of one browser that load it: one after the other, and at once. */
async function twoTabs({ browser, server, address }) {
  let count = 0;
  server.on('request', ({ method, url }) => (count += method === 'GET' && url.endsWith('.safetensors')));
  const downloads = async (visit) => {
    const context = await browser.newContext();
    const tabs = [await context.newPage(), await context.newPage()];
    for (const tab of tabs) await tab.goto(address);
    count = 0;
    await visit(tabs.map((tab) => () => tab.evaluate(load, `/${bundled}`)));
    await context.close();
    return count;
  };
  const inTurn = await downloads(async ([first, second]) => {
    await first();
    await second();
  });
  const atOnce = await downloads((both) => Promise.all(both.map((visit) => visit())));
  return { inTurn, atOnce };
}

export async function measureLong(figures, { quick, wanted, log }) {
  const { server, address: site } = await serve(root);
  const address = `${site}tests/bench/page.html`;
  const browser = await launch();
  const page = await (await browser.newContext()).newPage();
  page.setDefaultTimeout(0);
  await page.goto(address);
  const places = {
    Node: inNode,
    Chromium: (task, { model, ...params }) => page.evaluate(runInPage, [task, { model: `/${model}`, ...params }]),
  };
  const put = (name, value) => figures.set(name, [value]);
  for (const [place, run] of Object.entries(places)) {
    if (wanted(`memory, ${place}`)) {
      const marks = quick ? [100, 1000] : [1000, 10_000, 100_000];
      log(`memory over ${marks.at(-1)} sentences, ${place}`);
      const looks = await run('memory', { model: tiny, marks });
      looks.forEach((look, i) => Object.entries(look)
        .forEach(([what, value]) => put(`${what} after ${marks[i]} sentences: ${place}`, value)));
    }
    if (wanted(`calls at once, ${place}`)) {
      log(`20 calls at once, ${place}`);
      const { inTurn, atOnce, first, ratio, late } = await run('crowd', { model: bundled, count: 20, rounds: quick ? 3 : 9 });
      put(`20 calls one after another, ms: ${place}`, inTurn);
      put(`20 calls at once, ms: ${place}`, atOnce);
      put(`20 calls at once, the first of them, ms: ${place}`, first);
      put(`20 calls at once, times as fast as one after another: ${place}`, ratio);
      put(`20 calls at once, answered before an earlier one: ${place}`, late);
    }
    if (wanted(`aborts, ${place}`)) {
      log(`aborts, ${place}`);
      const { rejected, longest, next, alone } = await run('aborts', { model: bundled, times: quick ? 5 : 20 });
      put(`from abort to rejection, ms: ${place}`, rejected);
      put(`from abort to rejection, longest of all, ms: ${place}`, longest);
      put(`the next call after an abort, ms: ${place}`, next);
      put(`the same call alone, ms: ${place}`, alone);
    }
  }
  if (wanted('256 MB, Chromium')) {
    const count = quick ? 1000 : 10_000;
    log(`${count} sentences with two threads in 256 MB`);
    const load = { threads: 2, maximumMemory: 2 ** 28 };
    put('sentences translated with two threads in 256 MB: Chromium', await places.Chromium('within', { model: bundled, count, load }));
  }
  if (wanted('two tabs, Chromium')) {
    log('two tabs');
    const { inTurn, atOnce } = await twoTabs({ browser, server, address });
    put('downloads of two tabs one after another: Chromium', inTurn);
    put('downloads of two tabs at once: Chromium', atOnce);
  }
  await browser.close();
  server.close();
  server.closeAllConnections();
}
