// The beam as a tree: its best leaf is the translation, and the search goes on from any node.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { expected, laptop, phone, share, show } from './support.mjs';
import { inView, native, watchWorkers, width, withView } from './views.mjs';

let site;
const sentence = expected[1].source;
const address = `#beam?${new URLSearchParams({ text: sentence })}`;
before(async () => (site = await share()));
after(() => site.stop());

const selected = (page) => page.locator('[role=treeitem][aria-selected=true]');
const panel = (page) => page.getByTestId('node');
const first = (page) => page.locator('tbody tr').first();
const whenSearched = (page) => page.locator('[role=treeitem]').nth(10).waitFor();

test('the best leaf is the translation; nodes show their fate and their attention', () =>
  inView(site, laptop, address, async (page) => {
    await whenSearched(page);
    const { text } = native(sentence);
    assert.equal(await first(page).getByRole('button').innerText(), text);
    assert.match(await selected(page).getAttribute('aria-label'), /^end 1\. “end”, .* ranked 1 by score\.$/);
    assert.equal(await panel(page).getByRole('heading').first().innerText(), text);
    // A node in the middle: its text is the beginning, its map has a row for each of its pieces, and each sums to 1.
    const third = page.locator('[role=treeitem].best[aria-level="4"]');
    await third.click();
    const beginning = await panel(page).getByRole('heading').first().innerText();
    assert.ok(text.startsWith(beginning) && beginning.split(' ').length === 3, beginning);
    await page.locator('[role=application][data-rows="3"]').waitFor();
    await page.getByRole('treeitem', { name: 'Pruned: better' }).last().click();
    assert.match(await page.getByTestId('said').innerText(), /Pruned: better prefixes filled the beam\. .*sum of −[\d.]+, this one −[\d.]+/);
    const all = await page.locator('[role=treeitem]').count();
    await page.getByLabel('Show pruned branches').click();
    assert.ok((await page.locator('[role=treeitem]').count()) < all);
    assert.equal(await page.locator('[data-state=pruned]').count(), 0);
    await page.getByLabel('Show pruned branches').click();
    await show(page, 'beam-laptop');
  }));

test('the search continues from a node, as the native program does from that prefix', () =>
  inView(site, laptop, address, async (page) => {
    await whenSearched(page);
    const other = page.locator('[role=treeitem][aria-level="2"]:not(.best)').first();
    await other.click();
    const beginning = await panel(page).getByRole('heading').first().innerText();
    await page.getByTestId('said').getByRole('button', { name: 'Continue from here' }).click();
    await page.getByText(`The search continues from “${beginning}”.`).waitFor();
    const { text } = native(sentence, '--prefix', beginning);
    await first(page).getByRole('button', { name: text, exact: true }).waitFor();
    await page.getByRole('button', { name: 'Search from the start' }).click();
    await first(page).getByRole('button', { name: native(sentence).text, exact: true }).waitFor();
  }));

test("the picture's output box opens the beam search, the breadcrumb names it, and Escape leads back", () =>
  withView(site, { ...laptop, reducedMotion: 'reduce' }, address.replace('beam', 'picture'), async (page) => {
    const output = page.locator('[data-place="out.beam"]');
    await output.click();
    await whenSearched(page);
    const crumbs = page.getByTestId('crumbs').locator('li');
    assert.deepEqual(await crumbs.allInnerTexts(), ['Model', 'Beam search']);
    await page.waitForFunction(() => location.hash.startsWith('#beam?'));
    await page.reload();
    await whenSearched(page);
    await selected(page).focus();
    await page.keyboard.press('Escape');
    await page.getByTestId('scene').waitFor({ state: 'detached' });
    await page.waitForFunction(() => location.hash.startsWith('#picture?') && document.activeElement.dataset.place === 'out.beam');
  }));

test('a beam search opened from an experiment leads back there, and leaving it ends the search', () =>
  withView(site, { ...laptop, reducedMotion: 'reduce' }, address.replace('beam', 'intervene'), async (page) => {
    await page.locator('[data-place="out.beam"]').click();
    await whenSearched(page);
    await selected(page).focus();
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => location.hash.startsWith('#intervene?'));
    await page.getByRole('switch').first().waitFor();
    await page.locator('[data-place="out.beam"]').click();
    await whenSearched(page);
    await page.evaluate(() => {
      window.asked.push = function (request) {
        if (request.method === 'translate' && JSON.parse(request.wanted.options).beamTrace) {
          window.left = request.id;
          location.hash = '#translate';
        }
        return Array.prototype.push.call(this, request);
      };
    });
    await page.getByRole('slider', { name: 'Beam size' }).press('End');
    await page.waitForFunction(() => window.asked.some(({ type, id }) => type === 'abort' && id === window.left));
  }, watchWorkers));

test('by keyboard: through the tree, and the length penalty changes the ranking', () =>
  inView(site, laptop, address, async (page) => {
    await whenSearched(page);
    await selected(page).focus();
    const level = async () => Number(await selected(page).getAttribute('aria-level'));
    const end = await level();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    assert.equal(await level(), end - 2);
    await page.keyboard.press('ArrowRight');
    assert.equal(await level(), end - 1);
    await page.keyboard.press('Home');
    assert.equal(await level(), 1);
    await page.keyboard.press('ArrowRight');
    const above = await selected(page).getAttribute('data-node');
    await page.keyboard.press('ArrowDown');
    assert.equal(await level(), 2);
    assert.notEqual(await selected(page).getAttribute('data-node'), above);
    const scores = async () => (await page.locator('tbody td:last-child').allInnerTexts()).map((text) => Number(text.replace('−', '-')));
    const before = await scores();
    await page.getByRole('slider', { name: 'Length penalty' }).focus();
    await page.keyboard.press('End');
    const after = await scores();
    assert.notDeepEqual(after, before);
    assert.deepEqual(after, after.toSorted((a, b) => b - a));
    await page.getByRole('button', { name: 'Search again with α = 3.0' }).press('Enter');
    const { text } = native(sentence, '--length-penalty', '3');
    await first(page).getByRole('button', { name: text, exact: true }).waitFor();
    await page.getByRole('slider', { name: 'Beam size' }).focus();
    await page.keyboard.press('Home');
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1);
  }));

test('phone: the tree scrolls in its own area', () =>
  withView(site, phone, address, async (page) => {
    await whenSearched(page);
    assert.equal(await width(page), phone.viewport.width);
    await page.locator('[role=treeitem][aria-level="3"].best').tap();
    await page.locator('[role=application][data-rows="2"]').waitFor();
    assert.equal(await width(page), phone.viewport.width);
  }));
