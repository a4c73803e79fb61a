// Uses the built page at random in Firefox and WebKit, by turns, as `monkey` does in Chromium: as far as WebDriver lets it,
// so without files, and with text put into boxes instead of typed.
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { firefox } from '../../bindings/tools/setup.mjs';
import { which } from '../../bindings/tools/shell.mjs';
import { pageHeaders, serve } from '../../web/serve.mjs';
import { browsers } from '../browsers/drivers.mjs';
import { builtPage, laptop, phone } from '../e2e/support.mjs';
import { controls, faults, numbers, texts, views } from './monkey.mjs';

const actions = 50;
const patience = 60_000; // ms for an answer
let site, found;
const running = {};

/** In the page: collects the errors that nothing catches. */
function collectErrors() {
  if (window.uncaught) return;
  window.uncaught = [];
  const add = (what, error) => window.uncaught.push(`${what}: ${error} ${error?.stack?.slice(0, 500) ?? ''}`);
  // Firefox reports as an error that a ResizeObserver is called again in the next frame.
  addEventListener('error', ({ message, error }) => !message.startsWith('ResizeObserver loop') && add('uncaught', error ?? message));
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

/** In the page: scrolls to the control, and gives its middle. */
function middle(k) {
  const control = document.querySelector(`[data-monkey="${k}"]`);
  control.scrollIntoView({ block: 'center', behavior: 'instant' });
  const { left, top, width, height } = control.getBoundingClientRect();
  return [Math.round(left + width / 2), Math.round(top + height / 2)];
}

/** Does one random action and appends it to `log`. */
async function act(tab, random, log) {
  const oneOf = (all) => all[random(all.length)];
  const choice = random(20);
  if (choice < 2) {
    const how = ['back', 'reload'][choice];
    log.push(how);
    await tab.evaluate(`() => { ${['history.back()', 'location.reload()'][choice]}; }`);
    return sleep(500);
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
  if (random(3) === 0) return tab.evaluate((k) => document.querySelector(`[data-monkey="${k}"]`).click(), k);
  return tab.press(...await tab.evaluate(middle, k));
}

/** The problems after one more action; an answer that does not come within `patience` is one. */
async function after(tab, random, log) {
  const checked = async () => {
    await tab.evaluate(collectErrors);
    await act(tab, random, log);
    await sleep(random(400));
    return [...await tab.evaluate(faults), ...await tab.evaluate(() => window.uncaught ?? [])];
  };
  const answered = checked().catch((error) => { // a page that is being reloaded does not answer
    log.push(`  (${String(error).split('\n')[0].slice(0, 100)})`);
    return /fetch failed|has ended/.test(error) ? ['the browser has ended'] : [];
  });
  return Promise.race([answered, sleep(patience, ['the page hangs'], { ref: false })]);
}

export default {
  async prepare() {
    if (!existsSync(builtPage)) return console.log('browsers: the page is missing; run `npm run build`');
    found = [...(firefox() ? ['Firefox'] : []), ...(which('WebKitWebDriver') && which('Xvfb') ? ['WebKit'] : [])];
    if (found.length === 0) return console.log('browsers: Firefox and WebKit are missing; `npm run test:browsers` installs them');
    site = await serve(builtPage, 0, pageHeaders);
  },
  cases: () => (site ? Infinity : 0),
  async attempt(i, random, figures) {
    const name = found[i % found.length];
    const tab = (running[name] ??= await browsers[name].launch());
    const { width, height } = [laptop, phone][random(2)].viewport;
    const view = views[random(views.length)];
    const log = [`${name}, ${width} wide, open ${view}`];
    await tab.resize(width, height);
    await tab.open(`${site.address}?case=${i}${view}`); // another address: otherwise the page would not be loaded again
    let problems = [];
    for (let k = 0; k < actions && problems.length === 0; k++) {
      problems = await after(tab, random, log);
      figures.actions = (figures.actions ?? 0) + 1;
    }
    if (problems.some((problem) => /hangs|has ended/.test(problem))) {
      delete running[name];
      await tab.close().catch(() => {});
    }
    return problems.length ? `${problems.join('\n')}\n  ${log.join('\n  ')}` : '';
  },
  async finish() {
    for (const tab of Object.values(running)) await tab.close();
    site?.server.close();
    site?.server.closeAllConnections();
  },
};
