// The view that classifies and tags: what it shows is what the package finds, and what is trained here opens in it.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Classifier, Tagger } from '../../dist/index.js';
import { builtPage, laptop, phone, share, show } from './support.mjs';
import { download, drop, width, withView } from './views.mjs';

let site, classifier;
const file = join(builtPage, 'encoders/snips.safetensors');
before(async () => {
  site = await share();
  classifier = await Classifier.load(readFileSync(file));
});
after(() => (classifier?.dispose(), site.stop()));

const text = (page) => page.getByRole('textbox', { name: 'Text', exact: true });
const labels = (page) => page.getByTestId('labels').locator('th').allInnerTexts();
const first = (page, label) =>
  page.waitForFunction((label) => document.querySelector('[data-testid=labels] th')?.innerText === label, label);

for (const [name, size] of Object.entries({ laptop, phone })) {
  test(`${name}: labels, spans and deciding words match the package; the link restores them`, () =>
    withView(site, size, '#classify', async (page) => {
      await first(page, 'PlayMusic');
      const sentence = 'book a table for two at a thai restaurant in boston';
      await text(page).fill(sentence);
      await first(page, 'BookRestaurant');
      const found = await classifier.classify(sentence);
      assert.deepEqual(await labels(page), found.labels.slice(0, 7).map(({ label }) => label));
      const spans = await page.getByTestId('tagged').locator('.part').allInnerTexts();
      assert.deepEqual(spans.map((span) => span.split('\n')), found.spans.map(({ text, type }) => [text, type]));
      const less = await classifier.classify('book a table for two at a thai  in boston');
      const change = 100 * (less.labels.find(({ label }) => label === 'BookRestaurant').probability - found.labels[0].probability);
      const said = page.getByTestId('without').locator('.part', { hasText: 'restaurant' }).locator('small');
      await said.waitFor();
      assert.ok(Math.abs(Number((await said.innerText()).replace('−', '-')) - change) < 0.06, `${await said.innerText()}, ${change}`);
      assert.equal(await page.getByTestId('attended').locator('.piece').count(), found.sourceTokens.length - 1, 'all but the end');
      assert.equal(await width(page), size.viewport.width);
      await page.waitForURL(/input=book/);
      await page.reload();
      await first(page, 'BookRestaurant');
      assert.equal(await text(page).inputValue(), sentence);
      await text(page).fill('');
      await page.getByText('Type some text above.').waitFor();
    }));
}

test('a text of which the model knows nothing gets a warning beside its label, one like the training has none', () =>
  withView(site, laptop, '#classify', async (page) => {
    await first(page, 'PlayMusic');
    const warning = page.getByTestId('labels').getByRole('status');
    assert.equal(await warning.count(), 0);
    await text(page).fill('asdf');
    await warning.getByText('The model knows few of these words').waitFor();
    await page.getByText('Not learned: asdf.').waitFor();
    await text(page).fill('I love you');
    await warning.getByText('none of them fits this text well').waitFor();
  }));

test('each bundled model has an example and a result', () =>
  withView(site, laptop, '#classify', async (page) => {
    for (const name of readdirSync(join(builtPage, 'encoders'))) {
      await page.getByRole('combobox', { name: 'Model' }).selectOption(name.replace('.safetensors', ''));
      const bytes = readFileSync(join(builtPage, 'encoders', name));
      const model = await Classifier.load(bytes).catch(() => Tagger.load(bytes));
      const { classes, tags } = model.info;
      model.dispose();
      const names = [...classes, ...tags.map((tag) => tag.replace(/^[BI]-/, ''))];
      await page.waitForFunction((names) =>
        names.includes(document.querySelector('[data-testid=labels] th, [data-testid=tagged] small')?.innerText), names);
      assert.ok((await text(page).inputValue()).length > 10, name);
      assert.equal(await page.getByRole('alert').count(), 0, name);
    }
  }));

test('a model that is chosen while kept files are still being listed is used', () =>
  withView(site, laptop, '#classify', async (page) => {
    const select = page.getByRole('combobox', { name: 'Model' });
    await select.selectOption('ewt');
    await page.evaluate(() => globalThis.listKeptFiles());
    await page.getByTestId('tagged').waitFor();
    await page.waitForLoadState('networkidle');
    assert.equal(await select.inputValue(), 'ewt');
    assert.equal(await page.getByTestId('labels').count(), 0, 'which "snips" would show');
  }, (page) => page.addInitScript(() => {
    const held = new Promise((resolve) => (globalThis.listKeptFiles = resolve));
    const open = caches.open.bind(caches);
    caches.open = async (name) => {
      if (name === 'wasmformer-files') await held;
      return open(name);
    };
  })));

test('a dropped file is kept, downloaded and deleted; a translator is refused with a message', () =>
  withView(site, laptop, '#classify', async (page) => {
    await first(page, 'PlayMusic');
    const bytes = readFileSync(file);
    await drop(page, ['mine.safetensors', bytes]);
    await page.getByRole('button', { name: 'Delete' }).waitFor();
    await page.waitForURL(/encoder=file%3Amine/);
    await page.reload();
    await page.getByRole('button', { name: 'Delete' }).waitFor();
    const given = await download(page, () => page.getByRole('button', { name: 'Download' }).click());
    assert.equal(given.name, 'mine.safetensors');
    assert.ok(given.bytes.equals(bytes));
    const translator = readFileSync(new URL('../fixtures/tiny-de-en.safetensors', import.meta.url));
    await drop(page, ['other.safetensors', translator]);
    assert.match(await page.getByRole('alert').innerText(), /^Could not load this model: .+\.$/);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.waitForFunction((count) => document.querySelectorAll('select[aria-label=Model] option').length === count, readdirSync(join(builtPage, 'encoders')).length);
    await page.waitForURL(/encoder=(?!file)/);
    assert.equal(await page.getByRole('combobox', { name: 'Model' }).inputValue(), 'snips', 'the first of the visitor’s language');
    await page.goto(`${site.address}#models`);
    await page.getByText('in use', { exact: true }).waitFor();
    assert.equal(await page.getByText('snips').count(), 0, 'the translators are listed without it');
  }));

test('the dropped files of a BERT folder become a model, which is kept', () =>
  withView(site, laptop, '#classify', async (page) => {
    await first(page, 'PlayMusic');
    const folder = new URL('../fixtures/bert/bert-classify/', import.meta.url);
    await drop(page, ...readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder))]));
    await page.waitForURL(/#classify.*encoder=file/);
    await text(page).fill('play some jazz');
    const expected = JSON.parse(readFileSync(new URL('../expected.json', folder)))['bert-classify'];
    await first(page, expected.labels[expected.logits[0].indexOf(Math.max(...expected.logits[0]))]);
  }));

test('a model that cannot be fetched is requested once; the current model and the text stay', async () => {
  const { page } = await site.visit(laptop, '#classify?input=will+it+rain');
  await page.getByTestId('labels').waitFor();
  let count = 0;
  await page.route('**/encoders/ewt.safetensors', (route) => (++count, route.fulfill({ status: 404 })));
  const select = page.getByRole('combobox', { name: 'Model' });
  await select.selectOption('ewt');
  assert.match(await page.getByRole('alert').innerText(), /^Could not load this model: .*404.*\.$/);
  assert.deepEqual([await select.inputValue(), await text(page).inputValue(), count], ['snips', 'will it rain', 1]);
});

test('a file that the browser cannot store is still used, with a note', () =>
  withView(site, laptop, '#classify', async (page) => {
    await first(page, 'PlayMusic');
    await drop(page, ['mine.safetensors', readFileSync(join(builtPage, 'encoders/ewt.safetensors'))]);
    assert.match(await page.getByRole('alert').innerText(), /^The model is ready to use but could not be saved .*: there is not enough space in this browser's storage\.$/);
    assert.equal(await page.getByRole('combobox', { name: 'Model' }).inputValue(), 'file:mine.safetensors');
    await text(page).fill('I saw that car.');
    await page.getByTestId('tagged').locator('.part', { hasText: 'car' }).waitFor();
    await page.waitForURL(/encoder=file%3Amine/);
    await page.getByRole('combobox', { name: 'Model' }).selectOption('csl');
    await page.waitForURL(/encoder=csl/);
    assert.equal(await page.getByRole('alert').count(), 0);
  }, (page) => page.addInitScript(() => {
    CacheStorage.prototype.open = () => Promise.reject(new DOMException('no room', 'QuotaExceededError'));
  })));

test('quick keystrokes send one request, and the next keystroke cancels it', () =>
  withView(site, laptop, '#classify', async (page) => {
    await first(page, 'PlayMusic');
    const sent = await page.evaluate(() => new Promise((resolve) => {
      const sent = [];
      const box = document.querySelector('textarea');
      const type = (value) => {
        box.value = value;
        box.dispatchEvent(new Event('input', { bubbles: true }));
      };
      const { postMessage } = Worker.prototype;
      Worker.prototype.postMessage = function (request, ...rest) {
        const [text] = request.wanted?.texts ?? [];
        if (text?.startsWith('rain')) sent.push([request.id, text]);
        if (request.type === 'abort' && request.id === sent[0]?.[0]) resolve(sent.map(([, text]) => text));
        if (text === 'rain in paris') type('rain in rome');
        return postMessage.call(this, request, ...rest);
      };
      const keys = Array.from({ length: 8 }, (_, i) => 'rain in paris'.slice(0, i + 6));
      const next = () => {
        type(keys.shift());
        if (keys.length > 0) setTimeout(next);
      };
      next();
    }));
    assert.deepEqual(sent, ['rain in paris']);
  }));

test('an encoder dropped on the Translate view opens in Classify', () =>
  withView(site, laptop, '', async (page) => {
    await drop(page, ['mine.safetensors', readFileSync(join(builtPage, 'encoders/ewt.safetensors'))]);
    await page.waitForURL(/#classify.*encoder=file%3Amine/);
    await text(page).fill('I saw that car.');
    await page.getByTestId('tagged').locator('.part', { hasText: 'car' }).waitFor();
  }));

test('if two files are dropped one after the other, the second wins', () =>
  withView(site, laptop, '', async (page) => {
    let answer;
    const asked = new Promise((resolve) => void page.route(/encoders\.svelte-/, (route) => resolve(answer = () => route.continue())));
    await drop(page, ['first.safetensors', readFileSync(join(builtPage, 'encoders/ewt.safetensors'))]);
    await asked;
    await drop(page, ['second.safetensors', Buffer.alloc(1000)]);
    const alert = page.getByRole('alert').filter({ hasText: 'second.safetensors' });
    await alert.waitFor();
    await answer();
    await page.waitForURL(/encoder=file%3Afirst/);
    assert.doesNotMatch(page.url(), /#classify/);
    assert.ok(await alert.isVisible());
  }));

test('two presses on a card start one run', () =>
  withView(site, laptop, '#train', async (page) => {
    const held = [];
    await page.route('**/labelled/*', (route) => void held.push(route));
    const cards = page.locator('main li.sheet button');
    const snips = cards.filter({ hasText: 'PlayMusic' });
    await Promise.all([page.waitForRequest(/labelled/), snips.click()]);
    await snips.click();
    await cards.filter({ hasText: 'PRON' }).click();
    await Promise.all(held.map((route) => route.continue()));
    await page.locator('.cockpit').waitFor();
    assert.equal(held.length, 1);
    await page.locator('.cockpit').getByRole('button', { name: 'Stop' }).click();
  }));

test('own labeled lines: errors are shown; a run shows its accuracy and confusions, and opens in Classify', () =>
  withView(site, laptop, '#train', async (page) => {
    const card = page.getByRole('button', { name: /^Your own labels/ });
    await card.click();
    const box = page.getByRole('textbox', { name: /^One text per line/ });
    const use = page.getByRole('button', { name: 'Train on these lines' });
    for (const [lines, wrong] of [
      ['a\tb\nc', 'Line 2 must have a label, a tab and a text: c'],
      ['a\tb\na\tc\na\td\na\te', 'All lines have the same label; at least two labels are needed.'],
      ['a\tb\nc\td', 'Too few lines: at least 4 are needed.'],
    ]) {
      await box.fill(lines);
      await use.click();
      await page.getByText(wrong).waitFor();
    }
    const lines = Array.from({ length: 60 }, (_, i) => (i % 2 ? `music\tplay song number ${i}` : `weather\twill it rain on day ${i}`));
    await box.fill(lines.join('\n'));
    await use.click();
    const cell = page.getByRole('button', { name: /^music classified as music: \d/ });
    await cell.click();
    await page.getByRole('heading', { name: 'music classified as music' }).waitFor();
    assert.match(await page.locator('.cockpit li', { hasText: 'play song number' }).first().innerText(), /play song number \d+/);
    await page.waitForFunction(() => document.querySelector('.score').innerText === '100 %');
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('paused', { exact: true }).first().waitFor();
    await show(page, 'train-labels');
    await page.evaluate(() => {
      const { Worker } = window;
      window.Worker = function () {
        window.Worker = Worker;
        throw new Error('no worker');
      };
    });
    await page.getByRole('button', { name: 'Open in Classify' }).click();
    await page.getByRole('alert').getByText('no worker').waitFor();
    await page.getByRole('button', { name: 'Open in Classify' }).click();
    await text(page).fill('play song number 3');
    await first(page, 'music');
  }));
