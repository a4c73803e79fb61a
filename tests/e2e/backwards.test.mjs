// Figure 1 backwards in a browser: a right answer, its losses and gradients, steps and their return; models of the
// laboratory; a phone.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { expected, go, laptop, phone, share, show } from './support.mjs';
import { width, withView } from './views.mjs';

let site;
before(async () => (site = await share()));
after(() => site.stop());

const { source } = expected[1];
const address = `#backwards?${new URLSearchParams({ text: source })}`;
const button = (page, name) => page.getByRole('button', { name, exact: true });
const answer = (page) => page.getByRole('textbox', { name: 'The right answer' });
const lossOf = async (page) => Number((await page.getByTestId('loss').innerText()).split('→').at(-1));
const ready = (page) => page.getByTestId('norm').waitFor();
const idle = (page) => page.waitForFunction(() => !document.querySelector('main .stale'));

test('a right answer has losses, a step lowers them, Undo takes it back, and the page keeps its model', () =>
  withView(site, laptop, address, async (page) => {
    await ready(page);
    const translation = await answer(page).inputValue();
    assert.equal(await page.getByTestId('lesson-before').innerText(), translation, 'it begins with the translation');
    const likely = await lossOf(page);
    await answer(page).fill('Yesterday I met an old friend.');
    await page.waitForFunction((was) => Number(document.querySelector('[data-testid=loss]').innerText) > was, likely);
    const before = await lossOf(page);
    await button(page, 'Take a step').click();
    await page.getByTestId('effect').waitFor();
    const after = await lossOf(page);
    assert.ok(after < before, `${after} is not below ${before}`);
    assert.match(await page.getByTestId('norm').innerText(), /→/);
    assert.match(await page.getByTestId('effect').innerText(), /rate × length²/);
    assert.ok(await page.getByTestId('lesson-after').innerText());
    await show(page, 'backwards-laptop');
    await button(page, 'Undo').click();
    await page.getByTestId('effect').waitFor({ state: 'detached' });
    assert.equal(await lossOf(page), before);
    await button(page, 'Take a step').click();
    await page.getByTestId('effect').waitFor();
    await go(page, 'Translate');
    await page.locator('.target [role=group][aria-busy=false]').waitFor();
    assert.equal((await page.locator('.target').innerText()).includes(translation), true);
  }));

test('by keyboard: from box to box, and the numbers of heads and tokens', () =>
  withView(site, laptop, address, async (page) => {
    await ready(page);
    await page.locator('[data-place="out.linear"]').focus();
    await page.keyboard.press('ArrowDown');
    const focused = () => page.evaluate(() => document.activeElement.dataset.place);
    assert.match(await focused(), /^dec\.\d\.ffn/);
    await page.locator('[data-place="enc.1.self"]').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Encoder · Layer 1 · Multi-head attention' }).waitFor();
    const rows = await page.locator('tbody th').allInnerTexts();
    assert.equal(rows[0], 'After Wᴼ');
    assert.ok(rows.includes('Head 1'));
    assert.equal(await page.locator('[data-place="enc.1.self"]').getAttribute('aria-pressed'), 'true');
    assert.match(await page.getByTestId('passage').innerText(), /times as large/);
  }));

test('an empty answer is asked for, and a new one is computed', () =>
  withView(site, laptop, address, async (page) => {
    await ready(page);
    await answer(page).fill('');
    await page.getByText('Type a sentence and the right answer.').waitFor();
    assert.ok(await button(page, 'Take a step').isDisabled());
    await answer(page).fill('An old friend.');
    await page.waitForFunction(() => document.querySelectorAll('[data-testid=losses] li').length < 8);
    await idle(page);
  }));

test('models that the laboratory has trained can be chosen', () => {
  const ablation = {
    id: 'small', task: 'reverse', pairs: 300, steps: 20,
    base: { d_model: 16, ffn_dim: 16, encoder_layers: 2, decoder_layers: 2, batch_tokens: 128, decay_steps: 200 },
    arms: [{ id: 'with', set: { residual: true } }, { id: 'without', set: { residual: false } }],
    claim: { best: 'with', worse: 'without', metric: 'exactMatch' },
  };
  const laboratory = `#laboratory?${new URLSearchParams({ text: source, ablation: JSON.stringify(ablation) })}`;
  return withView(site, laptop, laboratory, async (page) => {
    page.setDefaultTimeout(120_000); // the machine may be busy
    await button(page, 'residual connections').click();
    await button(page, 'Start').click();
    await page.getByTestId('verdict').waitFor();
    await page.evaluate((address) => (location.hash = address), address);
    await ready(page);
    const models = page.getByRole('group', { name: 'Model' }).getByRole('radio');
    assert.equal(await models.count(), 3);
    await models.last().check({ force: true });
    await page.locator('[data-place="enc.2.ffn"]').waitFor();
    await ready(page);
    await page.waitForFunction((wanted) => document.querySelector('#lesson-source').value !== wanted, source);
    await button(page, 'Take a step').click();
    await page.getByTestId('effect').waitFor();
  });
});

test('a phone', () =>
  withView(site, phone, address, async (page) => {
    await ready(page);
    assert.equal(await width(page), 390);
    await page.locator('[data-place="dec.1.cross"]').tap();
    await page.getByRole('heading', { name: 'Decoder · Layer 1 · Cross-attention' }).waitFor();
    await show(page, 'backwards-phone');
  }));
