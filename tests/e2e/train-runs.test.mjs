// The second half of the Train view: runs that are watched, stopped, kept, resumed, shared and used; and corrections.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chosen, laptop, share, show, smallPhone, translate, translated } from './support.mjs';
import { download, endWorkers, stored, watchWorkers, width, withView } from './views.mjs';

let site;
before(async () => (site = await share()));
after(() => site.stop());

const withPage = (hash, use, { prepare } = {}) => withView(site, laptop, hash, async (page) => {
  page.setDefaultTimeout(120_000); // the machine may be busy
  await use(page);
}, prepare);

/** A task so small that it takes seconds. */
const small = (more = '') => `#train?setup=${encodeURIComponent(`data:reverse,pairs:500,steps:90,batch_tokens:256${more}`)}`;
const rows = (page) => page.locator('.runs > table tbody tr');
const state = (page, text, row = 0) => rows(page).nth(row).getByText(text, { exact: true }).waitFor();
const press = (page, name) => page.locator('.cockpit').getByRole('button', { name, exact: true }).click();
const unfold = (page, name) => page.locator('.cockpit').locator('summary').getByText(name, { exact: true }).click();
const step = async (page, row = 0) => Number((await rows(page).nth(row).locator('.number').first().innerText()).replaceAll(',', ''));
const begin = (page) => page.getByRole('button', { name: 'Start training' }).click();

async function atStep(page, least, row = 0) {
  while ((await step(page, row)) < least) await page.waitForTimeout(100);
}

/** Begins a run, pauses it, and opens it in a second tab. */
async function besidePaused(page) {
  await begin(page);
  await atStep(page, 20);
  await press(page, 'Pause');
  await state(page, 'paused');
  const other = await page.context().newPage();
  other.setDefaultTimeout(120_000);
  await other.goto(page.url());
  await state(other, 'saved in this browser');
  return other;
}

/** The curves, without what depends on the clock. */
const curves = ({ points }) => points.map((point) => ({ ...point, speed: 0 }));

test('one click trains reverse to 99% exact matches; the run is watched, scrubbed and opened in Translate', () =>
  withPage('#train', async (page) => {
    await page.getByRole('button', { name: /^Reverse/ }).click();
    await state(page, 'running');
    await page.getByTestId('watched').waitFor();
    await press(page, 'Pause');
    await state(page, 'paused');
    const paused = await step(page);
    await press(page, 'Resume');
    await page.getByRole('textbox', { name: 'Another sentence to watch' }).fill('abcdefg');
    await page.getByRole('textbox', { name: 'Another sentence to watch' }).press('Enter');
    // The rest of the run would only make it surer of itself.
    await page.waitForFunction(
      () => parseFloat(document.querySelector('.cockpit .score').innerText) >= 99, undefined, { timeout: 300_000 });
    await press(page, 'Stop');
    await state(page, 'saved in this browser');
    assert.ok((await step(page)) > paused);
    const [run] = await stored(page);
    const { exactMatch } = run.points.findLast(({ valid }) => valid).valid;
    assert.ok(exactMatch >= 99, `${exactMatch} %`);
    assert.ok(run.pinned.every(({ snapshots }) => snapshots.length > 5 && snapshots.length <= 61));

    await page.getByRole('button', { name: 'abcdefg', exact: true }).click();
    const watched = page.getByTestId('watched');
    assert.equal(await watched.innerText(), 'gfedcba');
    const slider = page.getByRole('slider', { name: 'Training step' });
    await slider.press('Home');
    assert.notEqual(await watched.innerText(), 'gfedcba');
    assert.equal(await slider.getAttribute('aria-valuetext'), String(run.pinned[1].snapshots[0].step));
    const head = page.locator('.cockpit').getByRole('radio', { name: 'Layer 1, head 2' });
    await head.click();
    assert.ok(await head.isChecked());
    await press(page, 'Play');
    await page.getByTestId('watched').getByText('gfedcba', { exact: true }).waitFor();
    await unfold(page, 'Validation pairs');
    await page.getByText('Earlier (').first().click();
    await show(page, 'laptop-train-run');
    await page.setViewportSize(smallPhone.viewport);
    await page.waitForTimeout(300);
    assert.equal(await width(page), smallPhone.viewport.width);
    await show(page, 'small-phone-train-run');
    await page.setViewportSize(laptop.viewport);

    await press(page, 'Open in Translate');
    await chosen(page, 'file:Reverse.safetensors');
    await translated(page);
    const [first] = run.pinned;
    assert.equal(await page.locator('#source').inputValue(), first.text);
    assert.equal((await page.locator('.target').innerText()).trim(), [...first.text].reverse().join(''));
  }));

test('two runs are compared; one that is paused, left and resumed gets identical numbers', () =>
  withPage(small(), async (page) => {
    await begin(page);
    await state(page, 'running');
    await begin(page);
    await page.waitForFunction(() => document.querySelectorAll('.runs > table tbody tr').length === 2);
    await atStep(page, 30);
    await press(page, 'Pause');
    await state(page, 'paused');
    await page.getByRole('checkbox', { name: /^Show the curves of Reverse · .* as well$/ }).check();
    await page.locator('.u-legend').first().getByText(/^Reverse · .* validation$/).first().waitFor();
    await state(page, 'finished', 1);
    await page.reload();
    await state(page, 'saved in this browser');
    const before = await step(page);
    assert.ok(before >= 30 && before < (await step(page, 1)), `${before}`);
    await press(page, 'Resume');
    await state(page, 'finished');
    const [whole, resumed] = await stored(page);
    assert.notEqual(whole.id, resumed.id);
    assert.ok(whole.points.length >= 8);
    assert.deepEqual(curves(resumed), curves(whole));
    assert.deepEqual(resumed.samples, whole.samples);
    await press(page, 'Delete');
    await press(page, 'Delete permanently');
    await page.waitForFunction(() => document.querySelectorAll('.runs > table tbody tr').length === 1);
    await page.reload();
    await state(page, 'finished');
    assert.equal(await rows(page).count(), 1);
  }));

test('a run open in one tab cannot continue in another; once released it can, with its whole curve', () =>
  withPage(small(',steps:300'), async (page) => {
    const other = await besidePaused(page);
    await press(other, 'Resume');
    await other.getByRole('alert').getByText(/^This run is open in another tab/).waitFor();
    await state(other, 'saved in this browser');
    const reached = await step(page);
    await press(page, 'Resume');
    await atStep(page, reached + 40);
    await press(page, 'Stop');
    await state(page, 'saved in this browser');
    assert.ok((await step(other)) < (await step(page)));
    await press(other, 'Resume');
    await state(other, 'finished');
    assert.equal(await other.getByRole('alert').count(), 0);
    const [{ points, reportEvery }] = await stored(other);
    const steps = Array.from({ length: Math.ceil(300 / reportEvery) }, (_, i) => Math.min(300, (i + 1) * reportEvery));
    assert.deepEqual(points.map((point) => point.step), steps);
  }));

test('a run that another tab has finished is shown as finished on Resume, and is not trained again', () =>
  withPage(small(), async (page) => {
    const other = await besidePaused(page);
    await press(page, 'Resume');
    await state(page, 'finished');
    await press(other, 'Resume');
    await state(other, 'finished');
    assert.equal(await step(other), 90);
  }));

test('the rate can change during a run; one far too high stops it with one sentence, and it continues from before', () =>
  withPage(small(',steps:600'), async (page) => {
    await begin(page);
    await atStep(page, 20);
    await unfold(page, 'Learning rate, gradient and speed');
    const rate = page.getByRole('textbox', { name: 'Learning rate' });
    const now = async () => Number(await rate.getAttribute('placeholder'));
    await rate.fill('0.0001');
    await press(page, 'Set');
    await page.waitForFunction(() => Math.abs(Number(document.getElementById('rate').placeholder) - 1e-4) < 5e-5);
    await press(page, 'Pause');
    await state(page, 'paused');
    const safe = Number((await page.getByText(/^saved at step/).innerText()).match(/\d+/)[0]);
    const [reported, slow] = [await step(page), await now()];
    await rate.fill('1000');
    await press(page, 'Set');
    await press(page, 'Resume');
    await state(page, 'failed');
    const said = await page.getByRole('alert').innerText();
    assert.match(said, /^Training failed: the loss of step \d+ is [^.]+.*guessing; .*\.\n/);
    assert.equal(await step(page), reported);
    await press(page, `Resume from step ${safe} at a third of the learning rate`);
    await atStep(page, safe + 10);
    const slower = await now(); // though the schedule still warms up
    assert.ok(slower > 0 && slower < 0.8 * slow, `${slow}, then ${slower}`);
    assert.equal(await page.getByRole('alert').count(), 0);
    await press(page, 'Stop');
    await state(page, 'saved in this browser');
  }));

test('a run continues from its last save if the browser ends its worker, and is saved again if its storage is deleted', () =>
  withPage(small(',steps:200'), async (page) => {
    await begin(page);
    await atStep(page, 20);
    await press(page, 'Pause');
    await state(page, 'paused');
    const saved = await step(page);
    await press(page, 'Resume');
    await atStep(page, saved + 20);
    await endWorkers(page);
    await state(page, 'failed');
    assert.match(await page.getByRole('alert').innerText(), /^Training failed: the worker has stopped: the browser ended it\.\n/);
    assert.equal(await step(page), saved);
    await page.getByRole('button', { name: /^Resume from step \d+$/ }).click();
    await atStep(page, saved + 20);
    const { origin } = new URL(page.url());
    await (await page.context().newCDPSession(page)).send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
    await state(page, 'finished');
    await page.getByRole('button', { name: /^Train longer/ }).click(); // in a new worker
    await state(page, 'running');
    await state(page, 'finished');
    const [run] = await stored(page);
    assert.equal(run.points.at(-1).step, 400);
  }, { prepare: watchWorkers }));

test('full storage is reported and training continues; the run is downloaded, opened elsewhere, and continued', async () => {
  let file, points;
  const full = (page) =>
    page.addInitScript(() => {
      IDBObjectStore.prototype.put = () => {
        throw new DOMException('there is no room left', 'QuotaExceededError');
      };
    });
  await withPage(small(), async (page) => {
    await begin(page);
    const alert = await page.locator('.cockpit').getByRole('alert').innerText();
    assert.match(alert, /^This run cannot be saved in this browser: [^\n]+\. Training continues; download the run to keep it\.$/);
    await atStep(page, 30);
    await press(page, 'Pause');
    await state(page, 'paused');
    points = await step(page);
    const given = await download(page, () => press(page, 'Download the run'));
    assert.equal(given.name, 'Reverse.run.safetensors');
    file = { name: given.name, mimeType: 'application/octet-stream', buffer: given.bytes };
  }, { prepare: full });
  await withPage('#train', async (page) => {
    const picker = page.locator('.runs input[type=file]');
    await picker.setInputFiles({ ...file, buffer: file.buffer.subarray(0, 5000) });
    assert.match(await page.getByRole('alert').innerText(), /^Could not open this run: [^\n]+\.$/);
    await picker.setInputFiles(file);
    await state(page, 'paused');
    assert.equal(await step(page), points);
    await press(page, 'Resume');
    await state(page, 'finished');
    assert.ok((await stored(page))[0].points.length >= 8, 'the curves came along');
    const model = await download(page, () => press(page, 'Download the model'));
    assert.ok(model.bytes.length < file.buffer.length / 2, 'without the optimiser');
  });
});

test('a copy of the model learns a corrected translation, is scored on held-out sentences, and is then used', () =>
  withPage('', async (page) => {
    await translated(page);
    const before = await translate(page, 'Das ist mein Haus.');
    const wanted = 'This is my own house.';
    assert.notEqual(before, wanted);
    await page.getByRole('button', { name: 'Correct' }).click();
    const box = page.getByRole('textbox', { name: 'The correct translation of “Das ist mein Haus.”' });
    assert.equal(await box.inputValue(), before);
    await page.getByText('Weights are 8-bit').waitFor();
    await box.fill(wanted);
    await page.getByRole('button', { name: 'Learn' }).click();
    await page.getByText(/^Step \d+ of at most 40: /).waitFor();
    await page.getByTestId('corrected').waitFor();
    assert.equal(await page.getByTestId('corrected').innerText(), wanted);
    assert.match(await page.getByTestId('kept').innerText(), /^BLEU [3-9]\d\.\d → [2-9]\d\.\d, chrF [\d.]+ → [\d.]+$/);
    assert.equal((await page.locator('.target').innerText()).trim(), before, 'the model in use is as it was');
    await show(page, 'laptop-correct');
    await page.getByRole('button', { name: 'Use this model' }).click();
    await page.waitForFunction((text) => document.querySelector('.target').innerText.trim() === text, wanted);
  }));

test('a run is renamed; lists and files have its name, also after the page is opened again', () =>
  withPage(small(), async (page) => {
    await begin(page);
    await state(page, 'finished');
    await press(page, 'Rename');
    const field = page.getByRole('textbox', { name: 'Name of this run' });
    assert.match(await field.inputValue(), /^Reverse/);
    await field.press('Escape');
    await press(page, 'Rename');
    await field.fill('With few pairs');
    await field.press('Enter');
    await rows(page).first().getByRole('button', { name: 'With few pairs', exact: true }).waitFor();
    await page.waitForFunction(() => document.activeElement.textContent === 'Rename'); // once the name is stored
    await page.reload();
    await rows(page).first().getByRole('button', { name: 'With few pairs', exact: true }).click();
    await page.getByRole('heading', { name: 'With few pairs', exact: true }).waitFor();
    const [run] = await stored(page);
    assert.deepEqual([run.ownName, run.name.split(' · ')[0]], ['With few pairs', 'Reverse']);
  }));
