// The laboratory in a browser: one press trains all arms with three seeds, up to the verdict; arms are added; stopping,
// leaving, links and files; a phone.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { go, laptop, phone, share } from './support.mjs';
import { looks } from './looks.mjs';
import { download, drop, width, withView } from './views.mjs';

let site;
before(async () => (site = await share()));
after(() => site.stop());

/** So small that it takes seconds. */
const small = (more = {}) => ({
  id: 'small', task: 'reverse', pairs: 300, steps: 20,
  base: { d_model: 16, ffn_dim: 16, encoder_layers: 1, decoder_layers: 1, batch_tokens: 128, decay_steps: 200 },
  arms: [{ id: 'one', set: { num_heads: 1 } }, { id: 'four', set: { num_heads: 4 } }, { id: 'plain', set: { attention: 'dot' } }],
  claim: { best: 'four', worse: 'one', metric: 'exactMatch' }, ...more,
});
const addressOf = (ablation) => `#laboratory?${new URLSearchParams({ ablation: typeof ablation === 'string' ? ablation : JSON.stringify(ablation) })}`;
const withPage = (ablation, use, size = laptop) => withView(site, size, addressOf(ablation), async (page) => {
  page.setDefaultTimeout(120_000); // the machine may be busy
  await use(page);
});
const button = (page, name) => page.getByRole('button', { name, exact: true });
const verdict = (page) => page.getByTestId('verdict');
const cells = (page) => page.locator('main fieldset tbody td.number').allInnerTexts();

test('a prediction and one press: curves with names, maps beside each other, three seeds, and the verdict', () =>
  withPage(small(), async (page) => {
    await button(page, '4 heads').click();
    await page.getByText('your prediction').waitFor();
    await button(page, 'Start').click();
    await page.locator('.plot .name').first().waitFor();
    assert.equal(await verdict(page).count(), 0, 'it waits for the seeds');
    assert.ok(await button(page, '1 head').isDisabled(), 'a prediction is made before');
    await verdict(page).waitFor();
    assert.match(await verdict(page).innerText(), /You predicted “4 heads”/);
    assert.equal((await cells(page)).filter((text) => text !== '').length, 9);

    // One color for each arm: in the table, the charts and above the maps.
    const colors = await page.evaluate(() => {
      const of = (selector, property, pseudo) =>
        [...document.querySelectorAll(selector)].map((element) => getComputedStyle(element, pseudo)[property]);
      return [of('tbody th button', 'backgroundColor', '::before'), of('figure:first-child .name', 'color'), of('main h4', 'borderTopColor')];
    });
    assert.equal(new Set(colors[0]).size, 3);
    assert.deepEqual(colors[1], colors[0]);
    assert.deepEqual(colors[2], colors[0]);
    assert.equal(await page.locator('figure').first().locator('.band').count(), 3);
    assert.equal(await page.getByRole('application').count(), 3);
    const { bytes, name } = await download(page, () => button(page, 'Save the figure as SVG').first().click());
    assert.equal(name, 'small-exactMatch.svg');
    for (const text of ['4 heads', 'Which of these models learns best?']) assert.ok(bytes.includes(`>${text}<`), text);
    assert.deepEqual(await page.evaluate(looks), []);
  }));

test('the same seed gives each arm the same first sentence, and the same scores again', () =>
  withPage(small(), async (page) => {
    await button(page, 'Start').click();
    await verdict(page).waitFor();
    const before = await cells(page);
    await button(page, 'Start again').click();
    assert.equal(await verdict(page).count(), 0);
    await button(page, 'Start').click();
    await verdict(page).waitFor();
    assert.deepEqual(await cells(page), before);
  }));

test('stopping keeps what is done; leaving stops with a notice, and going on finishes it', () =>
  withPage(small({ steps: 600 }), async (page) => {
    await button(page, 'Start').click();
    await page.locator('.plot .name').first().waitFor();
    await button(page, 'Stop').click();
    await page.getByText(/^Stopped\. What was trained to the end is kept/).waitFor();
    await button(page, 'Go on').click();
    await button(page, 'Stop').waitFor();
    await go(page, 'About');
    await page.getByRole('heading', { name: 'What is this?' }).waitFor();
    await page.goBack();
    await page.getByText(/^Training stopped when you left/).waitFor();
    await button(page, 'Go on').click();
    await page.getByText(/^Training stopped when you left/).waitFor({ state: 'detached' });
    await button(page, 'Stop').click();
  }));

test('an arm is copied with one setting changed; the link and the file hold all of it', () =>
  withPage(small(), async (page) => {
    await page.locator('summary', { hasText: '+ Arm' }).click();
    await page.getByLabel('Setting').selectOption('attention');
    await page.getByLabel('Value').selectOption('scaled_dot');
    await page.getByText('There is such an arm already.').waitFor();
    assert.ok(await button(page, 'Add arm').isDisabled(), 'the default is no change');
    await page.getByLabel('Setting').selectOption('num_heads');
    assert.ok(await button(page, 'Add arm').isDisabled(), 'without a value');
    await page.getByLabel('Value').fill('8');
    await button(page, 'Add arm').click();
    await button(page, '8 heads').waitFor();
    await page.waitForURL(/%3A8/);
    const link = page.url();
    const { bytes, name } = await download(page, () => button(page, 'Download as a file').click());
    assert.equal(name, 'small.json');
    assert.equal(JSON.parse(bytes.toString()).arms.length, 4);

    await page.goto(addressOf('smoothing').replace(/^/, link.split('#')[0]));
    await page.getByRole('heading', { name: /label smoothing/ }).waitFor();
    await drop(page, ['mine.json', bytes]);
    await button(page, '8 heads').waitFor();
    await page.goto(link.replace(/%3A8/, '%3A2'));
    await button(page, '2 heads').waitFor();
    await drop(page, ['bad.json', '{"task":"chess"}']);
    await page.getByRole('alert').getByText('bad.json: there is no task “chess”.').waitFor();
  }));

test('the keyboard alone chooses an experiment, predicts and starts', () =>
  withView(site, laptop, '#laboratory', async (page) => {
    await page.getByRole('link', { name: /Why divide/ }).press('Enter');
    await button(page, 'Start').waitFor();
    assert.equal(await page.getByText('Show why').count(), 0, 'the reason would tell what is to be predicted');
    await page.locator('main fieldset button').first().press('Enter');
    await page.getByText('your prediction').waitFor();
    await page.locator('summary', { hasText: 'Show why' }).press('Enter');
    await page.getByText('Softmax turns large scores into a choice').waitFor();
    await button(page, 'Start').press('Enter');
    await button(page, 'Stop').press('Enter');
    await button(page, 'Go on').waitFor();
  }));

test('a link from another view leads to the top of the laboratory', () =>
  withView(site, phone, '#lecture/scale', async (page) => {
    const link = page.getByRole('link', { name: 'Do this experiment in the laboratory' });
    await link.scrollIntoViewIfNeeded();
    assert.ok(await page.evaluate(() => scrollY) > 100);
    await link.click();
    await button(page, 'Start').waitFor();
    assert.equal(await page.evaluate(() => scrollY), 0);
  }));

test('on a phone nothing is wider than the screen, with curves and maps', () =>
  withPage(small(), async (page) => {
    await button(page, 'Start').click();
    await verdict(page).waitFor();
    assert.equal(await width(page), phone.viewport.width);
    assert.deepEqual(await page.evaluate(looks), []);
  }, phone));
