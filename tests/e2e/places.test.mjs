// The places of the page: its navigation, the tabs of "Inside", and addresses of earlier versions.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessible, laptop, phone, share } from './support.mjs';
import { inView, width, withView } from './views.mjs';

let site;
before(async () => (site = await share()));
after(() => site.stop());

const PLACES = ['Translate', 'Inside', 'Lecture', 'Laboratory', 'Train', 'Models', 'About'];
const TABS = ['Figure', 'Attention', 'Beams', 'Interventions', 'Backwards', 'The paper in 300 lines'];
const current = (page) => page.locator('header nav [aria-current]').allInnerTexts();

test('seven places stand in the navigation; Inside has tabs, and another task is reached from Translate', () =>
  withView(site, laptop, '#translate', async (page) => {
    const navigation = page.getByRole('navigation', { name: 'Views' });
    assert.deepEqual(await navigation.getByRole('link').allInnerTexts(), PLACES);
    assert.equal(await page.getByRole('tab').count(), 0);
    await page.getByRole('link', { name: 'Classify and tag', exact: true }).click();
    await page.getByRole('textbox', { name: 'Text', exact: true }).waitFor();
    assert.deepEqual(await current(page), ['Translate']);
    await navigation.getByRole('link', { name: 'Inside' }).click();
    await page.getByRole('tabpanel', { name: 'Figure' }).getByTestId('figure').waitFor();
    assert.deepEqual(await page.getByRole('tablist', { name: 'Inside' }).getByRole('tab').allInnerTexts(), TABS);
  }));

test('by keyboard: arrow keys go round the tabs of Inside, Enter and Space open one, Back returns', () =>
  inView(site, laptop, '#picture', async (page) => {
    const tab = (name) => page.getByRole('tab', { name, exact: true });
    const focused = () => page.evaluate(() => document.activeElement.textContent);
    await tab('Figure').focus();
    await page.keyboard.press('ArrowLeft');
    assert.equal(await focused(), TABS.at(-1));
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    assert.equal(await focused(), 'Attention');
    assert.equal(await tab('Figure').getAttribute('aria-selected'), 'true', 'reached is not yet opened');
    await page.keyboard.press('Space');
    await page.getByRole('tabpanel', { name: 'Attention' }).getByRole('application').waitFor();
    assert.equal(await focused(), 'Attention');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.getByRole('tabpanel', { name: 'Beams' }).getByRole('treeitem').first().waitFor();
    await page.goBack();
    await page.getByRole('tabpanel', { name: 'Attention' }).waitFor();
    assert.equal(await tab('Attention').getAttribute('tabindex'), '0');
    await accessible(page, 'the tab Attention');
  }));

test('addresses of earlier versions open what they named, with what they said about it', () =>
  inView(site, laptop, '#about', async (page) => {
    const opened = {
      '#steps?at=enc.1.ffn': ['Inside', '[data-testid=zeros]'],
      '#inside': ['Inside', '[data-testid=figure]'],
      '#intervene?heads=cross:2:1': ['Inside', '[data-testid=after]'],
      '#beam': ['Inside', '[role=treeitem]'],
      '#classify?input=will+it+rain': ['Translate', '[data-testid=attended] .piece'],
    };
    for (const [address, [place, drawn]] of Object.entries(opened)) {
      await page.evaluate((hash) => (location.hash = hash), address);
      await page.locator(drawn).first().waitFor();
      assert.deepEqual(await current(page), [place], address);
    }
  }));

test('on a phone the places and tabs of Inside lie one below the other without making the page wider', () =>
  withView(site, phone, '#attention', async (page) => {
    await page.getByRole('tabpanel', { name: 'Attention' }).getByRole('application').waitFor();
    assert.equal(await width(page), phone.viewport.width);
    const [nav, tabs] = await page.locator('header nav, [role=tablist]').evaluateAll((all) =>
      all.map((one) => one.getBoundingClientRect()).map(({ top, bottom }) => ({ top, bottom })));
    assert.ok(tabs.top >= nav.bottom - 1, `${tabs.top} ${nav.bottom}`);
  }));

test('in the paper in 300 lines a box lights its lines, with numbers of the sentence, and a line lights its boxes', () =>
  withView(site, { viewport: { width: 1366, height: 900 } }, '#code?at=enc.1.ffn', async (page) => {
    const source = page.getByTestId('source');
    const lit = () => source.locator('.lit').allInnerTexts();
    const untilLit = (part) => page.waitForFunction(
      (part) => [...document.querySelectorAll('.source .lit')].some((line) => line.textContent.includes(part)), part);
    await source.getByTestId('value').first().waitFor();
    assert.match(await source.getByTestId('value').first().innerText(), /^relu\(x \* W_1 \+ b_1\) = .*\(\d[\d,]* numbers\)$/);
    assert.ok((await lit()).some((line) => line.startsWith('struct FeedForward')), await lit());
    const isInView = (text) => source.evaluate((box, text) => {
      const lit = [...box.querySelectorAll('.lit')].find((line) => line.textContent.includes(text));
      const [pane, line] = [box, lit].map((one) => one.getBoundingClientRect());
      return line.top >= pane.top && line.bottom <= pane.bottom;
    }, text);
    assert.equal(await isInView('struct FeedForward'), true);
    await page.locator('[data-testid=figure] [data-place="dec.1.self"]').focus();
    await untilLit('mask_future(Var scores)');
    assert.equal(await isInView('struct MultiHeadAttention'), true);
    await page.locator('[data-testid=figure] [data-place="dec.1.self"]').blur();
    await source.getByText('return norm_3(').hover();
    await page.locator('[data-place="dec.1.ffnNorm"][data-lit]').waitFor();
    assert.equal(await page.locator('[data-place="enc.1.ffnNorm"][data-lit]').count(), 0);
    await accessible(page, 'the paper in 300 lines');
  }));

test('the parameters of the boxes of the figure add up to the total beside it', () =>
  inView(site, laptop, '#picture', async (page) => {
    await page.getByRole('checkbox', { name: 'Count the parameters' }).check();
    const numbers = (texts) => texts.map((text) => Number(text.replaceAll(',', ''))).filter((number) => !Number.isNaN(number));
    const sum = (all) => all.reduce((total, one) => total + one, 0);
    const table = page.getByTestId('count-sums');
    await table.waitFor();
    const parts = numbers(await table.locator('tr:not(.total) td:nth-of-type(2)').allInnerTexts());
    const [total] = numbers(await table.locator('.total td:nth-of-type(2)').allInnerTexts());
    assert.ok(total > 5e6, `${total}`);
    assert.equal(sum(parts), total);
    await page.locator('[data-testid=counts] text').first().waitFor();
    assert.equal(sum(numbers(await page.locator('[data-testid=counts] text').allTextContents())), total);
    await page.waitForURL(/count=1/);
    await page.getByRole('checkbox', { name: 'Count the parameters' }).uncheck();
    await page.getByTestId('counts').waitFor({ state: 'detached' });
  }));
