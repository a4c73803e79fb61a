// A run is trained in the built page while its tab, its process, its worker, the whole browser or its storage is taken
// away, at any moment or while a checkpoint is stored; or a second tab wants it. What is left continues, and ends with the
// numbers of a run that nothing happened to.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { chromium } from 'playwright-core';
import { chromium as chromiumPath } from '../../bindings/tools/setup.mjs';
import { pageHeaders, serve } from '../../web/serve.mjs';
import { builtPage, flags, until } from '../e2e/support.mjs';
import { endWorkers, stored, watchWorkers } from '../e2e/views.mjs';

const address = () => `${site.address}#train?setup=${encodeURIComponent('data:reverse,pairs:500,steps:120,batch_tokens:256')}`;
const latest = '.runs > table tbody tr:first-child';
const told = (page) => page.getByRole('alert').getByText(/^This run is open in another tab/);
let site, expected, duration;

/** Runs in the page, which saves whenever its tab is hidden: this pretends that it is, every 150 ms. */
function saveOften() {
  let isHidden = false;
  Object.defineProperty(document, 'hidden', { get: () => isHidden });
  setInterval(() => {
    isHidden = true;
    dispatchEvent(new Event('visibilitychange'));
    isHidden = false;
  }, 150);
  const { put } = IDBObjectStore.prototype;
  IDBObjectStore.prototype.put = function (...given) {
    window.stores?.();
    return put.apply(this, given);
  };
}

/** A browser with its own profile, which is kept when the browser is restarted. */
class Visitor {
  profile = mkdtempSync(join(tmpdir(), 'wasmformer-tab-'));
  errors = [];
  /** False after the page's storage, and with it its Web Locks, was deleted; true again for a page that is opened after it was closed. */
  hasLocks = true;

  async start() {
    this.context = await chromium.launchPersistentContext(this.profile,
      { executablePath: chromiumPath(), args: flags, locale: 'en-US', serviceWorkers: 'block' });
    await watchWorkers(this.context);
    await this.context.addInitScript(saveOften);
    await this.context.exposeFunction('stores', () => this.onStore?.());
    await this.open();
  }

  /** A new tab. */
  async open() {
    if (this.page?.isClosed()) this.hasLocks = true;
    this.page = await this.context.newPage();
    this.page.setDefaultTimeout(120_000);
    this.page.on('pageerror', (error) => this.errors.push(String(error)));
    await this.page.goto(address());
    await this.page.locator('.runs').waitFor();
    await until(this.page, async () => (await indexedDB.databases()).some(({ name }) => name === 'wasmformer-runs'));
    if ((await stored(this.page)).length > 0) await this.page.locator(latest).waitFor();
  }

  /** The state of the latest run in the list of a tab. */
  async state(page = this.page) {
    const state = page.locator(`${latest} td.quiet`);
    return (await state.count()) ? state.innerText() : 'none';
  }

  /** Waits until the list says something else; resumes again while a tab that was just closed still holds the run. */
  async stateAfter(before) {
    for (const end = Date.now() + 120_000; Date.now() < end; await sleep(20)) {
      const now = await this.state();
      if (now !== before) return now;
      if (await told(this.page).count()) await this.resume({ timeout: 1000 }).catch(() => {}); // it may already have begun
    }
    throw new Error(`the run stays '${before}'`);
  }

  /** Starts or continues the run; returns once it is running or finished. */
  async goOn() {
    for (let state = await this.state(); ; state = await this.stateAfter(state)) {
      if (state === 'running' || state === 'finished') return;
      if (state === 'none') await this.begin();
      else if (state === 'saved in this browser') await this.resume();
      else if (state === 'failed') await this.again();
    }
  }

  /** After a failure: from the last save, or without one, from the start. */
  async again() {
    const button = this.cockpit.getByRole('button', { name: /^Resume from step \d+$/ });
    if (await button.count()) return button.click();
    return this.begin();
  }

  async begin() {
    const button = this.page.getByRole('button', { name: 'Start training' });
    if (!(await button.isVisible())) await this.page.getByText('Data, tokenizer and settings', { exact: true }).click();
    await button.click();
  }

  get cockpit() {
    return this.page.locator('.cockpit');
  }

  async resume(options) {
    // A run without a first step is not opened automatically.
    await this.page.locator(`${latest} button`).click(options);
    await this.cockpit.getByRole('button', { name: 'Resume', exact: true }).click(options);
  }

  async end() {
    await this.context.close().catch(() => {});
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

const devtools = (page) => page.context().newCDPSession(page);

// What is taken away; afterwards the visitor has a page again.
const mishaps = {
  async close(visitor) {
    await visitor.page.close();
    await visitor.open();
  },
  async leave(visitor) {
    visitor.page.once('dialog', (dialog) => dialog.accept());
    await visitor.page.goto('about:blank');
    await visitor.page.close();
    await visitor.open();
  },
  async crash(visitor) {
    const crashed = visitor.page.waitForEvent('crash');
    (await devtools(visitor.page)).send('Page.crash').catch(() => {});
    await crashed;
    await visitor.page.close();
    await visitor.open();
  },
  async kill(visitor) {
    const closed = visitor.context.waitForEvent('close');
    spawnSync('pkill', ['-KILL', '-f', `user-data-dir=${visitor.profile}`]);
    await closed;
    await visitor.start();
  },
  async worker(visitor) {
    await endWorkers(visitor.page);
    if (!visitor.hasLocks) await mishaps.close(visitor); // without locks, the page cannot tell that the worker has ended
  },
  async evict(visitor) {
    if ((await visitor.state()) === 'finished') return; // nothing would be left to compare
    const client = await devtools(visitor.page);
    visitor.hasLocks = false; // the locks are deleted too, so a second tab can train the run
    await client.send('Storage.clearDataForOrigin', { origin: new URL(site.address).origin, storageTypes: 'all' });
  },
  // Another tab is told that the run is open elsewhere, and gets it when the first one is gone.
  async tabs(visitor) {
    const first = visitor.page;
    await visitor.open();
    if ((await visitor.state()) === 'saved in this browser') await visitor.resume();
    while (/saved|preparing/.test(await visitor.state()) && !(await told(visitor.page).count())) await sleep(20);
    const states = await Promise.all([visitor.state(first), visitor.state()]);
    await first.close();
    if (visitor.hasLocks && states.every((state) => state === 'running')) throw new Error('two tabs train the run');
  },
};

/** What must be the same: everything but the clock. */
function numbers(run) {
  const { points, samples, pinned, isOver } = run;
  return { points: points.map((point) => ({ ...point, speed: 0 })), samples, pinned, isOver };
}

async function finished(visitor) {
  await visitor.goOn();
  // The last mishap may show only now.
  for (let tries = 0; (await visitor.state()) !== 'finished'; tries++) {
    const state = await visitor.stateAfter('running');
    if (state !== 'finished' && tries > 0) throw new Error(`the run is '${state}'`);
    await visitor.goOn();
  }
  return (await stored(visitor.page)).at(-1);
}

export default {
  async prepare() {
    if (!existsSync(builtPage)) return console.log('tab: the page is missing; run `npm run build`');
    site = await serve(builtPage, 0, pageHeaders);
    const visitor = new Visitor();
    await visitor.start();
    const begin = Date.now();
    expected = numbers(await finished(visitor));
    duration = Date.now() - begin;
    await visitor.end();
  },
  cases: () => (site ? Infinity : 0),
  async attempt(i, random, figures) {
    const done = [];
    const names = Object.keys(mishaps);
    const visitor = new Visitor();
    try {
      await visitor.start();
      for (let n = 1 + random(3); n > 0; n--) {
        await visitor.goOn();
        const name = done.length === 0 ? names[i % names.length] : names[random(names.length)];
        const at = random(2) ? { store: 1 + random(8) } : { after: random(duration) };
        done.push(`${name} ${JSON.stringify(at)}`);
        const isStored = new Promise((resolve) => (visitor.onStore = () => --at.store === 0 && resolve()));
        await Promise.race([isStored, sleep(at.after ?? duration)]);
        await mishaps[name](visitor);
        figures[name] = (figures[name] ?? 0) + 1;
      }
      const run = await finished(visitor);
      if (!isDeepStrictEqual(numbers(run), expected)) return `${done}: the run has other numbers`;
      return visitor.errors.length > 0 ? `${done}: ${visitor.errors}` : '';
    } catch (error) {
      return `${done}: ${error.stack}`;
    } finally {
      await visitor.end();
    }
  },
  finish() {
    site?.server.close();
    site?.server.closeAllConnections();
  },
};
