// Does random things in the built page, alternately in Firefox and WebKit. Unlike `monkey`, which uses Chromium, it stays in
// one browser language, has no files, keys or hovering, and sets text instead of typing it.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { firefox } from '../../bindings/tools/setup.mjs';
import { which } from '../../bindings/tools/shell.mjs';
import { pageHeaders, serve } from '../../web/serve.mjs';
import { browsers } from '../browsers/drivers.mjs';
import { builtPage, laptop, phone } from '../e2e/support.mjs';
import { controls, faults, numbers, texts, views } from './monkey.mjs';

const names = ['Firefox', 'WebKit'];
const actions = 50;
const patience = 300_000; // ms for a case
let site, folder;

/** The page's first script: collects uncaught errors and calls of console.error in sessionStorage, where they survive reloads. */
function collect() {
  const add = (what, error) => {
    sessionStorage.problems = `${sessionStorage.problems ?? ''}${what}: ${error} ${error?.stack?.slice(0, 500) ?? ''}\n`;
  };
  // Harmless: it only means that a ResizeObserver was put off until the next frame.
  addEventListener('error', ({ message, error }) => message.startsWith('ResizeObserver loop') || add('uncaught', error ?? message));
  addEventListener('unhandledrejection', ({ reason }) => add('uncaught', reason));
  const { error } = console;
  console.error = (...all) => {
    add('logged', all.join(' '));
    error.apply(console, all);
  };
}

/** In the page: chooses an option or puts text into a box. */
function setTo(k, value) {
  const control = document.querySelector(`[data-monkey="${k}"]`);
  control.focus();
  if (control.localName === 'select') control.selectedIndex = value;
  else control.value = value;
  for (const type of ['input', 'change']) control.dispatchEvent(new Event(type, { bubbles: true }));
}

/** In the page: clicks without a mouse. SVG elements have no click(). */
function click(k) {
  document.querySelector(`[data-monkey="${k}"]`).dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }));
}

/** In the page: scrolls to the control, and returns the coordinates of its centre. */
function middle(k) {
  const control = document.querySelector(`[data-monkey="${k}"]`);
  control.scrollIntoView({ block: 'center', behavior: 'instant' });
  const { left, top, width, height } = control.getBoundingClientRect();
  return [Math.round(left + width / 2), Math.round(top + height / 2)];
}

/** Does one random action and appends it to `log`. */
async function act(tab, view, random, log) {
  const oneOf = (all) => all[random(all.length)];
  const choice = random(20);
  if (choice < 2) {
    const [how, script] = [['back', 'history.back()'], ['reload', 'location.reload()']][choice];
    log.push(how);
    await tab.evaluate(`() => { ${script}; }`);
    await sleep(500);
    const isOutside = await tab.evaluate(() => location.protocol !== 'http:');
    return isOutside && tab.open(site.address + view);
  }
  const all = await tab.evaluate(controls);
  if (all.length === 0) return log.push('no controls');
  const k = random(all.length);
  const { kind, label, options } = all[k];
  log.push(`${kind} "${label}"`);
  if (kind === 'input:file') return undefined;
  if (kind.startsWith('select')) return tab.evaluate(setTo, k, random(options));
  if (/textarea|input:(text|search|number|url)/.test(kind)) {
    const text = oneOf(kind === 'input:number' ? numbers : texts);
    log.push(`  text ${JSON.stringify(text.slice(0, 30))}`);
    return tab.evaluate(setTo, k, text);
  }
  if (random(3) === 0) return tab.evaluate(click, k);
  return tab.press(...await tab.evaluate(middle, k));
}

/** What is wrong with the page now; while it is being reloaded, it may not answer at first. */
async function problems(tab) {
  for (let left = 10; ; left--) {
    try {
      const [title, collected] = await tab.evaluate(() => [document.title, sessionStorage.problems]);
      return [...await tab.evaluate(faults), ...(collected ? [collected] : []), ...(/crash/i.test(title) ? [title] : [])];
    } catch (error) {
      if (left === 0) return [`the page does not answer: ${error}`];
      await sleep(1000);
    }
  }
}

async function play(tab, view, random, log, figures) {
  const { width, height } = [laptop, phone][random(2)].viewport;
  await tab.resize(width, height);
  await tab.open(site.address + view);
  log[0] += `, ${await tab.evaluate(() => innerWidth)} pixels wide`;
  for (let k = 0; k < actions; k++) {
    await act(tab, view, random, log).catch((error) => log.push(`  (${String(error).split('\n')[0].slice(0, 100)})`));
    await sleep(random(400));
    figures.actions = (figures.actions ?? 0) + 1;
    const found = await problems(tab);
    if (found.length) return found;
  }
  return [];
}

export default {
  async prepare() {
    if (!existsSync(builtPage)) return console.log('browsers: the page is missing; run `npm run build`');
    if (!firefox() || !which('WebKitWebDriver') || !which('Xvfb')) {
      return console.log('browsers: Firefox or WebKit is missing; `npm run test:browsers` installs them');
    }
    folder = mkdtempSync(join(tmpdir(), 'wasmformer-browsers-'));
    for (const name of readdirSync(builtPage)) symlinkSync(join(builtPage, name), join(folder, name));
    rmSync(join(folder, 'index.html'));
    const html = readFileSync(join(builtPage, 'index.html'), 'utf8');
    writeFileSync(join(folder, 'index.html'), html.replace('<head>', '<head><script src="collect.js"></script>'));
    writeFileSync(join(folder, 'collect.js'), `(${collect})();`);
    site = await serve(folder, 0, pageHeaders);
  },
  cases: () => (site ? Infinity : 0),
  async attempt(i, random, figures) {
    const name = names[i % names.length];
    const view = views[random(views.length)];
    const log = [`${name}, open ${view}`];
    let tab, found;
    try {
      tab = await browsers[name].launch();
      found = await Promise.race([play(tab, view, random, log, figures), sleep(patience, ['the browser hangs'], { ref: false })]);
    } catch (error) {
      found = [String(error)];
    }
    await Promise.race([tab?.close().catch(() => {}), sleep(10_000, undefined, { ref: false })]);
    return found.length ? `${found.join('\n')}\n  ${log.join('\n  ')}` : '';
  },
  async finish() {
    site?.server.close();
    site?.server.closeAllConnections();
    if (folder) rmSync(folder, { recursive: true });
  },
};
