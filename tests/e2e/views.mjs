// What the tests of the views share: a page that must log no error, the native program, and the page's own functions.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtPage } from './support.mjs';

export { load } from '../web/load.mjs';

const root = new URL('../../', import.meta.url);

/** Fails if the page logs an error while `use` has it; after a failure the page is opened again. */
async function used(visitor, use) {
  visitor.hasFailed = true;
  await use(visitor.page, visitor.errors);
  assert.deepEqual(visitor.errors, [], 'the page logs no error');
  visitor.hasFailed = false;
}

/** Opens a view by its address, as a first visit does, and gives the page to `use`. What is prepared has a context of its own. */
export async function withView(site, options, hash, use, prepare) {
  if (!prepare) return used(await site.visit(options, hash), use);
  const opened = await site.open(options, prepare, hash);
  try {
    await used(opened, use);
  } finally {
    await opened.close();
  }
}

/** As withView(), in the page that the test before has used: see revisit(). */
export const inView = async (site, options, hash, use) => used(await site.revisit(options, hash), use);

/** What the native program makes of one sentence with the page's model: its text and its attention. */
function ask(sentence, flags) {
  const folder = mkdtempSync(join(tmpdir(), 'wasmformer-native-'));
  try {
    const file = join(folder, 'attention.json');
    const model = join(builtPage, 'models/de-en.safetensors');
    const text = execFileSync(
      fileURLToPath(new URL('build/native/wasmformer', root)),
      ['translate', '--model', model, '--attention', file, ...flags],
      { input: `${sentence}\n`, encoding: 'utf8', stdio: ['pipe', 'pipe', 'ignore'] },
    );
    return { text: text.trim(), ...JSON.parse(readFileSync(file, 'utf8'))[0] };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const answers = new Map();
/** As ask(), which is asked once for each sentence and flags. */
export function native(sentence, ...flags) {
  const key = JSON.stringify([sentence, flags]);
  if (!answers.has(key)) answers.set(key, ask(sentence, flags));
  return answers.get(key);
}

/** Prepares a page or a context: what a page posts to its workers is recorded in `asked`. */
export const watchWorkers = (page) =>
  page.addInitScript(() => {
    window.asked = [];
    window.workers = new Set();
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (request, ...rest) {
      window.asked.push(request);
      window.workers.add(this);
      return postMessage.call(this, request, ...rest);
    };
  });

/** Ends the workers of a page with watchWorkers() as a browser does: nothing tells the page. */
export const endWorkers = (page) => page.evaluate(() => window.workers.forEach((worker) => worker.terminate()));

/** Width of what is shown, to be compared with the screen's. */
export const width = (page) => page.evaluate(() => document.documentElement.scrollWidth);

/** Waits for the file that `press` makes the page give. */
export async function download(page, press) {
  const [file] = await Promise.all([page.waitForEvent('download'), press()]);
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}

/** Drops files anywhere on the page: [name, text or bytes] each. */
export const drop = (page, ...files) =>
  page.evaluate((files) => {
    const data = new DataTransfer();
    for (const [name, base64, times] of files) {
      const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
      data.items.add(new File(Array(times).fill(bytes), name));
    }
    for (const type of ['dragover', 'drop']) {
      document.body.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    }
  }, files.map(([name, content, times = 1]) => [name, Buffer.from(content).toString('base64'), times]));

/** What the browser keeps of its runs, the first begun first. */
export const stored = (page) =>
  page.evaluate(async () => {
    const done = (request) => new Promise((resolve, reject) =>
      ((request.onsuccess = () => resolve(request.result)), (request.onerror = () => reject(request.error))));
    const database = await done(indexedDB.open('wasmformer-runs'));
    const all = await done(database.transaction('runs').objectStore('runs').getAll());
    database.close();
    return all.filter((value) => value.points).sort((a, b) => a.created - b.created);
  });
