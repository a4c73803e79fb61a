// Uses the built page at random: presses controls, types, drops files, goes back, reloads. There must be no uncaught or
// logged error, crash or hang, the page must fit its window, and no text may contain a value such as 'undefined' or 'NaN'.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pageHeaders, serve } from '../../web/serve.mjs';
import { builtPage, laptop, launch, phone, smallPhone } from '../e2e/support.mjs';
import { drop } from '../e2e/views.mjs';

const actions = 60;
const model = readFileSync(join(import.meta.dirname, '../fixtures/tiny-de-en.safetensors'));
const files = {
  'tiny.safetensors': model,
  'damaged.safetensors': Buffer.from(model).fill(7, 100, 400),
  'pairs.tsv': Buffer.from('Hund\tdog\nKatze\tcat\n'.repeat(20)),
  'labels.tsv': Buffer.from('music\tplay jazz\nother\tnow\n'.repeat(20)),
  'empty.txt': Buffer.alloc(0),
  'long.txt': Buffer.from('Der Hund schläft. '.repeat(3000)),
};
export const texts = [
  '', ' ', 'Wo ist mein Buch?', 'Guten Morgen! Wie geht es dir?\nDanke.', '你好,世界。', '😀'.repeat(30), '<b>Haus</b>', 'a'.repeat(2000),
  'Hund '.repeat(300), '7', 'ä\u0000ö\ud800', 'dog\tHund\ncat\tKatze', 'http://localhost:1/x', '\u202Eabc',
];
export const numbers = ['', '0', '-1', '3', '1000000000', '0.5'];
const keys = ['Tab', 'Escape', 'Enter', 'ArrowDown', 'ArrowRight', ' ', 'Home', 'End', 'Control+a', 'Delete', '?', '/'];
export const views = ['', '#translate', '#picture', '#beam', '#intervene', '#train', '#train?setup=data:copy', '#classify', '#models', '#about'];
let site, browser;

/** In the page: numbers the controls that can be seen, and says what each is. */
export function controls() {
  const all = document.querySelectorAll('a[href], button, summary, select, input, textarea, [role=button], [role=tab], [role=option], [tabindex]');
  const leavesPage = (one) => one.target === '_blank' || /^https?:/.test(one.getAttribute('href') ?? '') || one.hasAttribute('download');
  const isSeen = (one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && one.getBoundingClientRect().width > 0;
  const isUsable = (one) => isSeen(one) && !one.disabled && !one.closest('[inert]') && !leavesPage(one);
  document.querySelectorAll('[data-monkey]').forEach((one) => one.removeAttribute('data-monkey'));
  return [...all].filter(isUsable).map((one, i) => {
    one.setAttribute('data-monkey', i);
    const label = String(one.ariaLabel ?? one.labels?.[0]?.innerText ?? one.innerText ?? one.name).slice(0, 40);
    return { kind: one.localName + (one.type ? `:${one.type}` : ''), label, options: one.options?.length ?? 0 };
  });
}

/** In the page: what a visitor would see that is wrong. */
export function faults() {
  const { scrollWidth, clientWidth } = document.documentElement;
  const text = document.body.innerText;
  const odd = /\bundefined\b|\bNaN\b|\[object \w+\]|\bnull\b|Infinity/.exec(text);
  const widest = () => [...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > clientWidth + 1)
    .slice(0, 4).map((one) => `${one.localName}.${one.getAttribute('class')}`);
  return [scrollWidth > clientWidth + 1 && `the page is ${scrollWidth} wide, the window ${clientWidth}: ${widest()} at ${location.hash}`,
    odd && `it says: ${text.slice(Math.max(0, odd.index - 60), odd.index + 60)}`].filter(Boolean);
}

/** Does one random action and appends it to `log`. */
async function act(page, random, log) {
  const oneOf = (all) => all[random(all.length)];
  const file = oneOf(Object.keys(files));
  const choice = random(20);
  if (choice === 0) {
    const key = oneOf(keys);
    log.push(`key ${key}`);
    return page.keyboard.press(key);
  }
  if (choice === 1) {
    const how = oneOf(['goBack', 'goForward', 'reload']);
    log.push(how);
    return page[how]();
  }
  if (choice === 2) {
    log.push(`drop ${file}`);
    return drop(page, [file, files[file]]);
  }
  const found = await page.evaluate(controls);
  if (found.length === 0) return log.push('no controls');
  const k = random(found.length);
  const { kind, label, options } = found[k];
  const control = page.locator(`[data-monkey="${k}"]`);
  log.push(`${kind} "${label}"`);
  if (kind.startsWith('select')) return control.selectOption({ index: random(options) });
  if (kind === 'input:file') return control.setInputFiles({ name: file, mimeType: '', buffer: files[file] });
  if (/textarea|input:(text|search|number|url)/.test(kind)) {
    const text = oneOf(kind === 'input:number' ? numbers : texts);
    log.push(`  types ${JSON.stringify(text.slice(0, 30))}`);
    return random(2) ? control.fill(text) : control.pressSequentially(text.slice(0, 40));
  }
  if (kind === 'input:range') return control.press(oneOf(['ArrowLeft', 'ArrowRight', 'Home', 'End']));
  if (random(6) === 0) return control.hover({ force: true });
  return control.click({ force: random(2) === 0, clickCount: 1 + (random(8) === 0) });
}

export default {
  async prepare() {
    if (!existsSync(builtPage)) return console.log('monkey: the page is missing; run `npm run build`');
    site = await serve(builtPage, 0, pageHeaders);
    browser = await launch();
  },
  cases: () => (site ? Infinity : 0),
  async attempt(_, random, figures) {
    const size = [laptop, phone, smallPhone][random(3)];
    const context = await browser.newContext({ ...size, locale: random(2) ? 'en-US' : 'zh-CN', serviceWorkers: 'block' });
    const page = await context.newPage();
    page.setDefaultTimeout(3000);
    const log = [];
    const problems = new Set();
    page.on('console', (message) => {
      if (message.type() === 'error' && !/Failed to load resource|ERR_/.test(message.text())) problems.add(`logged: ${message.text().slice(0, 600)}`);
    });
    page.on('pageerror', (error) => problems.add(`uncaught: ${error.stack?.slice(0, 600)}`));
    page.on('dialog', (dialog) => void dialog.accept().catch(() => {}));
    page.on('crash', () => problems.add('crashed'));
    const view = views[random(views.length)];
    log.push(`open ${view}`);
    await page.goto(site.address + view);
    for (let k = 0; k < actions && problems.size === 0; k++) {
      const acted = act(page, random, log).catch((error) => log.push(`  (${error.message.split('\n')[0].slice(0, 100)})`));
      const checked = acted.then(() => page.evaluate(faults)).catch(() => []); // while it is reloaded, a page does not answer
      const found = await Promise.race([checked, sleep(30_000, ['the page hangs'], { ref: false })]);
      found.forEach((fault) => problems.add(fault));
      figures.actions = (figures.actions ?? 0) + 1;
    }
    await context.close();
    return problems.size ? `${[...problems].join('\n')}\n  ${log.join('\n  ')}` : '';
  },
  async finish() {
    await browser?.close();
    site?.server.close();
    site?.server.closeAllConnections();
  },
};
