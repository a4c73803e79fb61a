// <wasmformer-attention> in plain pages, with a translation that the package makes there.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { accessible, expected, laptop, screenshot, smallPhone, start } from './support.mjs';
import { width, withView } from './views.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const source = 'Sie liest jeden Abend ein Buch, wenn die Kinder schlafen.';
// No style and no script but from files, as in pages with a strict policy.
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'";
const html = `<!doctype html><html lang="en"><head><title>Plain</title><meta name="viewport" content="width=device-width">
  <link rel="stylesheet" href="/plain.css"></head>
  <body><main><h1>Plain</h1><wasmformer-attention></wasmformer-attention></main></body></html>`;
const css = ':root { color-scheme: light dark; background: Canvas; font: 17px/1.5 sans-serif; } .red { color: rgb(120, 0, 0); }';

let site;
before(async () => (site = await start(root)));
after(() => site.stop());

const element = (page) => page.locator('wasmformer-attention');
const set = (page, properties) =>
  element(page).evaluate((found, properties) => void Object.assign(found, properties), properties);
const get = (page) => element(page).evaluate(({ kind, layer, head, form }) => ({ kind, layer, head, form }));
const map = (page) => page.getByRole('application');
const readout = (page) => page.getByTestId('readout').innerText();
const radio = (page, layer, head) => page.getByRole('radio', { name: `Layer ${layer}, head ${head}`, exact: true });
const pixels = (page) => map(page).locator('canvas').first().evaluate((canvas) => canvas.toDataURL());

/** A plain page whose element shows a translation by the fixture model; its attention is in `window.translation`. */
async function withElement(options, use, { attention = true } = {}) {
  const { page, errors } = await site.visit(options, 'plain.html', async (page) => {
    await page.route('**/plain.html', (route) =>
      route.fulfill({ contentType: 'text/html', body: html, headers: { 'Content-Security-Policy': policy } }));
    await page.route('**/plain.css', (route) => route.fulfill({ contentType: 'text/css', body: css }));
  });
  await page.evaluate(async ({ source, attention }) => {
    const found = document.querySelector('wasmformer-attention');
    const { Translator } = await import('/dist/index.js');
    const translator = await Translator.load('/tests/fixtures/tiny-de-en.safetensors');
    window.translation = await translator.translate(source, { attention });
    translator.dispose();
    found.translation = window.translation; // before the element is known
    await import('/dist/attention.js');
    window.changes = [];
    found.addEventListener('change', (event) => event.target === found && window.changes.push(event.detail));
  }, { source, attention });
  await use(page);
  assert.deepEqual(errors, []);
}

/** What the map must say of the strongest link of a row, from the translation itself. */
const strongest = (page, kind, layer, head, row) =>
  page.evaluate(([kind, layer, head, row]) => {
    const { columns, map, heads } = window.translation.attention[kind];
    const maps = head === 'mean' ? Array.from({ length: heads }, (_, h) => map(layer, h)) : [map(layer, head)];
    const weights = Array.from({ length: columns },
      (_, c) => maps.reduce((sum, one) => sum + one[row * columns + c] / maps.length, 0));
    const column = weights.indexOf(Math.max(...weights));
    const share = weights[column];
    const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: share < 0.01 ? 1 : 0 }).format(share);
    const name = ({ piece }) => piece.replaceAll('▁', ' ').trim();
    const { sourceTokens, targetTokens } = window.translation;
    const rows = kind === 'encoder' ? sourceTokens : targetTokens;
    return `“${name(rows[row])}” attends ${percent} to “${name(sourceTokens[column])}”`;
  }, [kind, layer, head, row]);

test("the element shows a translation's maps; heads are chosen by mouse", () =>
  withElement(laptop, async (page) => {
    const { layers, heads, rows, columns } = await page.evaluate(() => window.translation.attention.cross);
    assert.equal(await page.getByRole('radiogroup').getByRole('radio').count(), layers * (heads + 1));
    assert.deepEqual([await map(page).getAttribute('data-rows'), await map(page).getAttribute('data-columns')].map(Number), [rows, columns]);
    assert.deepEqual(await get(page), { kind: 'cross', layer: layers - 1, head: 'mean', form: 'heat' });
    const before = await pixels(page);
    await radio(page, 1, 2).click();
    assert.deepEqual(await get(page), { kind: 'cross', layer: 0, head: 1, form: 'heat' });
    assert.deepEqual(await page.evaluate(() => window.changes), [{ kind: 'cross', layer: 0, head: 1, form: 'heat' }]);
    assert.notEqual(await pixels(page), before);
    const { width: wide, height } = await map(page).boundingBox();
    await map(page).hover({ position: { x: 10, y: height - 8 } });
    assert.match(await readout(page), /^“end” attends most to “.+” \([\d.]+%\); entropy \d/);
    await page.mouse.move(0, 0);
    assert.equal(await readout(page), 'Point at a token or a cell.');
    await page.getByText('Lines', { exact: true }).click();
    await page.getByText('Encoder', { exact: true }).click();
    assert.deepEqual(await get(page), { kind: 'encoder', layer: 0, head: 1, form: 'lines' });
    assert.equal((await page.evaluate(() => window.changes)).length, 3);
    assert.ok(wide > 200);
  }));

test('by keyboard: every choice, and the cells', () =>
  withElement(laptop, async (page) => {
    await page.getByRole('radio', { name: 'Cross' }).focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    const { layer } = await get(page);
    assert.equal(await readout(page), await strongest(page, 'cross', layer, 'mean', 0));
    await page.keyboard.press('Escape');
    assert.equal(await readout(page), 'Point at a token or a cell.');
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    assert.deepEqual(await get(page), { kind: 'cross', layer, head: 1, form: 'heat' });
    assert.ok(await radio(page, layer + 1, 2).evaluate((button) => button.getRootNode().activeElement === button));
    await map(page).focus();
    assert.equal(await readout(page), await strongest(page, 'cross', layer, 1, 0));
    await page.getByRole('radio', { name: 'Cross' }).focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    assert.equal((await get(page)).kind, 'encoder');
    assert.equal((await page.evaluate(() => window.changes)).at(-1).kind, 'encoder');
  }));

test('properties and attributes set what is shown; invalid values are refused by name', () =>
  withElement(laptop, async (page) => {
    await element(page).evaluate((found) => {
      for (const [name, value] of [['kind', 'decoder'], ['layer', '0'], ['head', '1'], ['form', 'lines']]) found.setAttribute(name, value);
    });
    assert.deepEqual(await get(page), { kind: 'decoder', layer: 0, head: 1, form: 'lines' });
    assert.ok(await radio(page, 1, 2).isChecked());
    await set(page, { kind: 'cross', layer: 99, head: 99, form: 'heat' });
    const { layers } = await page.evaluate(() => window.translation.attention.cross);
    assert.deepEqual(await get(page), { kind: 'cross', layer: layers - 1, head: 'mean', form: 'heat' }, 'the nearest there is');
    await set(page, { layer: 0 });
    await element(page).evaluate((found) => found.removeAttribute('layer'));
    assert.equal((await get(page)).layer, layers - 1);
    assert.equal(await page.evaluate(() => window.changes.length), 0, 'only the visitor’s choices are told');
    for (const [name, value, message] of [
      ['kind', 'self', '[attention] kind is self, not one of cross, encoder, decoder'],
      ['layer', -1, '[attention] layer is -1, not a number from 0'],
      ['head', 'all', "[attention] head is all, not a number from 0 or 'mean'"],
      ['form', 'pie', '[attention] form is pie, not one of heat, lines'],
      ['translation', 'Hello', '[attention] translation is Hello, not what translate() gives, or null'],
    ]) await assert.rejects(set(page, { [name]: value }), (error) => error.message.includes(message), name);
    await set(page, { translation: null });
    assert.equal(await map(page).count(), 0);
    await element(page).evaluate((found) => {
      found.translation = window.translation;
      document.body.append(found); // moved, it goes on
    });
    assert.equal(await map(page).count(), 1);
    await element(page).evaluate((found) => found.remove());
    assert.equal(await map(page).count(), 0);
  }));

test('without attention the element says how to request it, in Chinese on a Chinese page', () =>
  withElement(laptop, async (page) => {
    const said = element(page).locator('p');
    assert.match(await said.innerText(), /^This translation has no attention maps\. Call translate\(text, \{ attention: true \}\)/);
    await element(page).evaluate((found) => (found.lang = 'zh-Hans'));
    assert.match(await said.innerText(), /^此译文没有注意力图/);
  }, { attention: false }));

test('the colors follow the page whenever they change', () =>
  withElement({ ...laptop, colorScheme: 'light' }, async (page) => {
    const ink = () => page.getByText('Cross', { exact: true }).evaluate((word) => getComputedStyle(word).color);
    /** The colour of the map's strongest cell differs by theme, since paper is the other end. */
    const changed = async (before) => {
      await page.waitForFunction(([canvas, before]) => canvas.toDataURL() !== before, [await map(page).locator('canvas').first().elementHandle(), before]);
      return pixels(page);
    };
    const light = await pixels(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    const dark = await changed(light);
    assert.equal(await ink(), 'rgb(255, 255, 255)');
    await page.evaluate(() => (document.documentElement.style.colorScheme = 'light'));
    assert.equal(await changed(dark), light);
    await page.evaluate(() => (document.body.className = 'red'));
    await page.waitForFunction((word) => getComputedStyle(word).color === 'rgb(120, 0, 0)', await page.getByText('Cross', { exact: true }).elementHandle());
    await element(page).evaluate((found) => {
      found.style.setProperty('--wasmformer-ramp', '#ff0000, #ff0000');
      found.parentElement.append(found); // moved to where it already is, it reads its surroundings again
    });
    await page.waitForFunction((canvas) => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      return data.some((red, i) => i % 4 === 0 && red === 255 && data[i + 1] === 0 && data[i + 2] === 0
        && data[i + 3] === 255);
    }, await map(page).locator('canvas').first().elementHandle());
  }));

for (const [name, size] of Object.entries({ laptop, 'small-phone': smallPhone })) {
  test(`${name}: it fits, and axe finds nothing serious, light and dark`, () =>
    withElement(size, async (page) => {
      for (const form of ['lines', 'heat']) {
        for (const colorScheme of ['light', 'dark']) {
          await page.emulateMedia({ colorScheme });
          await set(page, { form });
          await element(page).locator(`[data-theme=${colorScheme}]`).waitFor();
          assert.equal(await width(page), size.viewport.width);
          await accessible(page, `${form}, ${colorScheme}`);
          await screenshot(page, `element-${name}-${form}-${colorScheme}`);
        }
      }
      await map(page).locator('canvas').last()[size.hasTouch ? 'tap' : 'hover']({ position: { x: 120, y: 140 } });
      assert.match(await readout(page), /“.+”/);
      await screenshot(page, `element-${name}-pointed`);
    }));
}

test('the example without a bundler translates and shows its attention', () =>
  withView(site, laptop, 'bindings/examples/browser/', async (page) => {
    await map(page).waitFor();
    await page.getByRole('textbox', { name: 'German' }).fill(expected[1].source);
    await page.getByRole('status').getByText(expected[1].translation, { exact: true }).waitFor();
    await accessible(page, 'the example');
    await screenshot(page, 'example-browser');
    await page.getByRole('textbox', { name: 'German' }).fill(`${expected[1].source}\n${expected[1].source}`);
    const both = `${expected[1].translation}\n${expected[1].translation}`;
    await page.waitForFunction((both) => document.querySelector('#target').textContent === both, both);
  }));
