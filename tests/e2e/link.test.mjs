// The address keeps everything that is looked at, and opening it shows the same again.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { expected, laptop, share, translated } from './support.mjs';
import { inView, withView } from './views.mjs';

let site;
before(async () => (site = await share()));
after(() => site.stop());

const { source } = expected[1];
const at = (view, more = {}) => `#${view}?${new URLSearchParams({ text: source, ...more })}`;
const head = (page, layer, number) => page.getByRole('radio', { name: `Layer ${layer}, head ${number}`, exact: true });
const checked = (page, name) => page.getByRole('radio', { name, exact: true }).isChecked();
const parameters = (address) => Object.fromEntries(new URLSearchParams(new URL(address).hash.split('?')[1]));
/** The address, once it says this. */
const addressWith = async (page, part) => {
  await page.waitForFunction((part) => location.hash.includes(part), part);
  return page.url();
};

test('kind of attention, layer, head and lines survive a reload, and are in the copied link', () =>
  withView(site, laptop, at('translate'), async (page) => {
    await translated(page);
    assert.deepEqual(Object.keys(parameters(page.url())), ['text'], 'what is there at first is left out');
    await page.getByText('Decoder', { exact: true }).click();
    await head(page, 1, 3).click();
    await page.getByText('Lines', { exact: true }).click();
    await page.evaluate(() => (navigator.clipboard.writeText = async (text) => (window.copied = text)));
    await page.getByRole('button', { name: 'Copy link' }).click();
    const copied = await page.evaluate(() => window.copied);
    assert.deepEqual(parameters(copied), { text: source, kind: 'decoder', decoder: '1.3', form: 'lines' });
    await addressWith(page, 'form=lines');
    await page.reload();
    await translated(page);
    for (const name of ['Decoder', 'Lines', 'Layer 1, head 3']) assert.ok(await checked(page, name), name);
    // Another kind has a head of its own, and what is there at first leaves no trace.
    await page.getByText('Cross', { exact: true }).click();
    assert.ok(await checked(page, 'Layer 3, mean of 4 heads'));
    await page.getByText('Heat map', { exact: true }).click();
    await page.waitForFunction(() => !/kind|form/.test(location.hash));
    await page.getByText('Decoder', { exact: true }).click();
    assert.ok(await checked(page, 'Layer 1, head 3'));
  }));

test('a copy button says so when the browser refuses', () =>
  inView(site, laptop, at('translate'), async (page) => {
    await translated(page);
    await page.evaluate(() => (navigator.clipboard.writeText = () => Promise.reject(new DOMException('', 'NotAllowedError'))));
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByRole('button', { name: 'Could not copy' }).waitFor();
  }));

test('a link that is malformed or does not fit the model shows the nearest valid view', () =>
  inView(site, laptop, at('translate', { kind: 'all', cross: '9.9', encoder: '0.x', begin: '7-1 x', sentence: '9' }), async (page) => {
    await translated(page);
    assert.ok(await checked(page, 'Layer 3, mean of 4 heads'));
    assert.equal(await page.locator('.target').innerText(), expected[1].translation);
    await page.getByText('Encoder', { exact: true }).click();
    assert.ok(await checked(page, 'Layer 3, mean of 4 heads'));
  }));

test('a forced start of a translation survives a reload, until the text or model changes', () =>
  inView(site, laptop, at('translate', { text: `${source} ${expected[0].source}`, sentence: '2' }), async (page) => {
    await translated(page);
    const target = page.locator('.target');
    assert.match(await target.locator('[data-sentence="1"]').innerText(), /^Where/);
    await target.locator('[data-sentence="1"] [data-token="0"]').click();
    const other = page.locator('.candidates li button:not([aria-current])').first();
    await other.click();
    await addressWith(page, 'begin=2-');
    await page.locator('.target .forced').first().waitFor();
    const forced = await target.innerText();
    assert.notEqual(forced.trim(), `${expected[1].translation} ${expected[0].translation}`);
    await page.reload();
    await page.locator('.target .forced').first().waitFor();
    await translated(page);
    assert.equal(await target.innerText(), forced);
    assert.match(await page.locator('.note').innerText(), /You fixed the start/);
    // The sentence is still there after more is written; then it is not.
    await page.getByRole('textbox', { name: 'German' }).fill(`${expected[0].source} ${source}`);
    await addressWith(page, 'begin=1-');
    await page.getByRole('textbox', { name: 'German' }).fill(source);
    await page.waitForFunction(() => !location.hash.includes('begin'));
    assert.equal(await page.locator('.target .forced').count(), 0);
  }));

test("token ids in a link apply only to the link's own model", () =>
  inView(site, laptop, at('translate', { begin: '1-551', mask: '2', from: '551' }), async (page) => {
    await page.locator('.target .forced').first().waitFor();
    await page.getByRole('combobox', { name: 'Model' }).selectOption('fr-en');
    await addressWith(page, 'model=fr-en');
    assert.deepEqual(parameters(page.url()), { text: source, model: 'fr-en' });
    await translated(page);
    assert.equal(await page.locator('.target .forced').count(), 0);
  }));

test("a link keeps the beam search's two length penalties and the node it continued from", () =>
  inView(site, laptop, at('beam'), async (page) => {
    const slider = page.getByRole('slider', { name: 'Length penalty' });
    const forced = page.locator('.forced');
    await slider.focus();
    await page.keyboard.press('End');
    await page.getByRole('button', { name: 'Search again with α = 3.0' }).press('Enter');
    await slider.press('ArrowLeft');
    // The end of the search, which chooses the best hypothesis, may come between the two presses.
    for (let i = 0; i < 5 && !(await forced.isVisible()); i++) {
      await page.locator('[role=treeitem][aria-level="3"]:not(.best)').first().click();
      await page.getByRole('button', { name: 'Continue from here' }).click({ timeout: 3000 }).catch(() => {});
    }
    await forced.waitFor();
    const said = await forced.innerText();
    const address = await addressWith(page, 'from=');
    const { alpha, searched } = parameters(address);
    assert.deepEqual([alpha, searched], ['2.9', '3']);
    await page.reload();
    await page.waitForFunction((said) => document.querySelector('.forced')?.innerText === said, said);
    assert.equal(await slider.inputValue(), '2.9');
    assert.equal(await page.getByRole('button', { name: 'Search again with α = 2.9' }).count(), 1);
    await page.getByRole('textbox', { name: 'German' }).fill(expected[0].source);
    await page.waitForFunction(() => !location.hash.includes('from') && location.hash.includes('alpha'));
    await forced.waitFor({ state: 'detached' });
  }));

test('a view appears only once its words have arrived', () => {
  let release;
  const wait = new Promise((resolve) => (release = resolve));
  return withView(site, laptop, at('translate'), async (page) => {
    await translated(page);
    for (const view of ['train', 'classify', 'models', 'about', 'beam']) {
      await page.evaluate((hash) => (location.hash = hash), at(view));
      await setTimeout(500); // enough for the view to be drawn, if it did not wait
    }
    release();
    await page.getByRole('tree').waitFor();
  }, (page) => page.route(/assets\/[a-z]+-[\w-]+\.json$/, (route) => wait.then(() => route.continue())));
});
