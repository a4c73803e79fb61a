// Opens the built page in headless Chromium, one for all tests of a process.
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { chromium } from 'playwright-core';
import { headlessChromium } from '../../bindings/tools/setup.mjs';
import { isolation, pageHeaders, serve } from '../../web/serve.mjs';

const root = new URL('../../', import.meta.url);
export const builtPage = fileURLToPath(new URL('build/page/', root));
const isCompressedCopy = (path) => /\.(br|gz)$/.test(path) && existsSync(path.replace(/\.\w+$/, ''));
/** Copies the built page to `folder`, without the compressed copies of its files, so that tests can change these. */
export const copyPage = (folder) => cpSync(builtPage, folder, { recursive: true, filter: (path) => !isCompressedCopy(path) });
/** Sentences and what the native program makes of them. */
export const expected = JSON.parse(readFileSync(new URL('tests/fixtures/page-translations.json', root), 'utf8'));
const screenshots = fileURLToPath(new URL('build/screenshots/', root));

export const laptop = { viewport: { width: 1366, height: 768 } };
export const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true };
export const smallPhone = { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, hasTouch: true };

export const flags = ('--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking '
  + '--disable-component-update --disable-sync').split(' ');
export const launch = () => chromium.launch({ executablePath: headlessChromium(), args: flags });

/** The browser of this process, open as long as a site uses it. */
let browsing;
/** What stops each site that is open. */
const sites = new Set();
const openBrowser = () => (browsing ??= launch());
async function leaveBrowser(stop) {
  sites.delete(stop);
  if (sites.size > 0) return;
  const browser = await browsing;
  browsing = undefined;
  await browser?.close();
}
// A test that fails leaves its sites open, and the process would wait for them for ever.
after(async () => {
  for (const stop of sites) await stop();
});

/** To be run in the page. */
const surroundingsOf = () => ({
  language: document.documentElement.lang,
  theme: document.documentElement.dataset.theme,
  // The address says it a moment later.
  model: document.querySelector('select[aria-label=Model]')?.value ?? new URLSearchParams(location.hash.split('?')[1]).get('model'),
});
/** In use and in the box on a first visit. */
const FIRST_MODEL = 'de-en';
const FIRST_EXAMPLE = 'Ich habe gestern im Park einen alten Freund getroffen.';
/** Most pages kept open, one for each kind of device; opening another closes the one not used for the longest time. */
const MOST_VISITORS = 4;

/** A server of its own for a folder, and pages of it. */
export async function start(folder = builtPage, headers = folder === builtPage ? pageHeaders : isolation) {
  const { server, address } = await serve(folder, 0, headers);
  const browser = await openBrowser();
  const { origin } = new URL(address);
  // Another document of the same host and headers, so that the process stays.
  const between = `${address}between`;
  const nothing = '<!doctype html><link rel="icon" href="data:,">';
  /** The page of each kind of device that visit() uses again. */
  const visitors = new Map();
  const contexts = new Set();
  /** The visitor of a kind of device, now the one last used. */
  const takeVisitor = (key) => {
    const visitor = visitors.get(key);
    visitors.delete(key);
    if (visitor) visitors.set(key, visitor);
    return visitor;
  };
  const stop = async () => {
    await Promise.all([...contexts].map((context) => context.close()));
    await leaveBrowser(stop);
    server.close();
    server.closeAllConnections();
  };
  sites.add(stop);
  return {
    address,
    server,
    stop,
    /** A page in a context of its own, by default without a service worker; `errors` collects what it logs. `path` may be an address. */
    async open(options = laptop, prepare = async () => {}, path = '') {
      const context = await browser.newContext({ locale: 'en-US', serviceWorkers: 'block', ...options });
      contexts.add(context);
      context.on('close', () => contexts.delete(context));
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      const errors = [];
      page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
      page.on('pageerror', (error) => errors.push(String(error)));
      await prepare(page);
      await page.goto(String(new URL(path, address)));
      return { page, errors, close: () => context.close() };
    },
    /**
     * The built page as a first visit finds it: nothing stored, nothing left of the test before. The page is
     * used again, which takes a third of the time of open(). `setRoutes` may add routes; the next visit removes them.
     */
    async visit(options = laptop, path = '', setRoutes = async () => {}) {
      const key = JSON.stringify(options);
      const visitor = takeVisitor(key);
      if (!visitor) {
        if (visitors.size === MOST_VISITORS) {
          const [[oldest, { close }]] = visitors;
          visitors.delete(oldest);
          await close();
        }
        const opened = await this.open(options, setRoutes, path);
        const { model: _, ...first } = await opened.page.evaluate(surroundingsOf);
        const devtools = await opened.page.context().newCDPSession(opened.page);
        const newcomer = { ...opened, devtools, hasFailed: false, first };
        visitors.set(key, newcomer);
        return newcomer;
      }
      const { page, errors, devtools } = visitor;
      for (const other of page.context().pages()) if (other !== page) await other.close();
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await page.context().unrouteAll({ behavior: 'ignoreErrors' });
      await page.route(between, (route) => route.fulfill({ contentType: 'text/html', body: nothing, headers }));
      await page.goto(between);
      await devtools.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
      await page.unrouteAll();
      await page.setViewportSize(options.viewport);
      await page.emulateMedia({ colorScheme: options.colorScheme ?? 'light', reducedMotion: options.reducedMotion ?? 'no-preference' });
      page.setDefaultTimeout(60_000);
      errors.length = 0;
      visitor.hasFailed = false;
      await setRoutes(page);
      await page.goto(String(new URL(path, address)));
      return visitor;
    },
    /**
     * The page of the test before, for tests of what an address shows: with the model, language and theme of a first visit. It
     * comes from another view, so that only what is stored and what was translated stays; the text is `hash`'s or the first example.
     */
    async revisit(options, hash) {
      const [view, query] = hash.slice(1).split('?');
      const said = new URLSearchParams(query);
      const visitor = takeVisitor(JSON.stringify(options));
      if (!visitor || visitor.hasFailed) return this.visit(options, hash);
      const { model, ...others } = await visitor.page.evaluate(surroundingsOf);
      const isWanted = (model ?? FIRST_MODEL) === (said.get('model') ?? FIRST_MODEL);
      if (!isWanted || !isDeepStrictEqual(others, visitor.first)) return this.visit(options, hash);
      const { page, errors } = visitor;
      errors.length = 0;
      if (!said.has('text')) said.set('text', FIRST_EXAMPLE);
      const leave = view === 'about' ? 'models' : 'about';
      await page.evaluate((hash) => (location.hash = hash), `#${leave}?${said}`);
      await page.locator(leave === 'about' ? 'main dl' : 'main li .name').first().waitFor();
      await page.evaluate((hash) => (location.hash = hash), `#${view || 'translate'}?${said}`);
      return visitor;
    },
  };
}

let sharing;
let sharers = 0;
/** The built page with its headers, on one server with the same visitors for all files of a process. */
export async function share() {
  sharers += 1;
  sharing ??= start();
  const site = await sharing;
  const known = new Set();
  return {
    ...site,
    /** Does what revisit() of start() does, but first clears what the tests of another file left. */
    async revisit(options, hash) {
      const key = JSON.stringify(options);
      const isFirst = !known.has(key);
      known.add(key);
      return isFirst ? site.visit(options, hash) : site.revisit(options, hash);
    },
    async stop() {
      sharers -= 1;
      if (sharers === 0) await site.stop();
    },
  };
}

/** Waits until the model's translation of what is in the box is shown. */
export async function translated(page) {
  await page.locator('.status li').first().waitFor(); // before that, the bundled example is shown
  await page.locator('.target .piece').first().waitFor();
  await page.evaluate(() => document.fonts.ready.then(() => {}));
  await page.locator('.target [role=group][aria-busy=false]').waitFor();
}

/** Waits until `predicate` is true in the page; it may be asynchronous, which waitForFunction() takes for true. */
export async function until(page, predicate) {
  // A page that is being reloaded does not answer.
  const holds = () => page.evaluate(predicate).catch((error) => {
    if (!/context was destroyed/.test(error.message)) throw error;
  });
  for (const end = Date.now() + 60_000; Date.now() < end; await setTimeout(50)) if (await holds()) return;
  assert.fail(`never: ${predicate}`);
}

/** Waits until the list of models stands at the one that links call `id`. */
export const chosen = (page, id) =>
  page.waitForFunction((id) => document.querySelector('select[aria-label=Model]')?.value === id, id);

export const box = (page, name = 'German') => page.getByRole('textbox', { name });

export async function translate(page, text) {
  await box(page).fill('');
  await page.locator('.target .hint').waitFor();
  await box(page).fill(text);
  await translated(page);
  return (await page.locator('.target').innerText()).trim();
}

/** Keeps a picture to look at, if the caller of the tests wants some. */
export async function screenshot(page, name) {
  if (!process.env.WASMFORMER_SCREENSHOTS) return;
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: `${screenshots}${name}.png`, fullPage: true });
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Axe finds nothing serious in what the page shows now. */
export async function accessible(page, name) {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe); // the page's policy refuses a script element
  await page.evaluate(async () => { // new colours reach the element with the end of a transition
    for (let frame = 0; frame < 5; frame++) await new Promise(requestAnimationFrame);
  });
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  const serious = found.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) => nodes.map(({ target, html }) => `${id}: ${help}: ${target} ${html.slice(0, 200)}`));
  assert.deepEqual(serious, [], name);
}

/** Asks axe about a state in both themes, which differ in colours alone; keeps `${name}-light.png` and `${name}-dark.png`, if wanted. */
export async function show(page, name) {
  // By the page's own button, since canvases are drawn again; but without a pointer, which would be seen.
  const set = (theme) =>
    page.evaluate((wanted) => {
      const button = [...document.querySelectorAll('header button')].at(-1);
      if (document.documentElement.dataset.theme !== wanted) button.click();
    }, theme);
  const before = await page.evaluate(() => document.documentElement.dataset.theme);
  for (const theme of ['light', 'dark']) {
    await set(theme);
    await accessible(page, `${name}, ${theme}`);
    await screenshot(page, `${name}-${theme}`);
  }
  await set(before);
}

/** The score of every shift from now on, whether or not a key was pressed before it. */
export const watchShifts = (page) =>
  page.evaluate(() => {
    window.shifts = [];
    new PerformanceObserver((list) => {
      for (const { value, sources } of list.getEntries()) {
        window.shifts.push(`${value.toFixed(4)} ${sources.map(({ node }) => node?.parentElement?.className || node?.nodeName)}`);
      }
    }).observe({ type: 'layout-shift' });
  });
export const shifts = (page) => page.evaluate(() => window.shifts);

/** Goes to a place by the navigation, and there to one of its tabs. */
export async function go(page, name, tab) {
  await page.getByRole('banner').getByRole('navigation').getByRole('link', { name, exact: true }).click();
  if (tab) await page.getByRole('tab', { name: tab, exact: true }).click();
}
