// The lecture: every stop in both languages and four windows, its questions and score, presentation, and figures as files.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { latinWords, looks, names as terms } from './looks.mjs';
import { accessible, go, laptop, phone, share, show, translated } from './support.mjs';
import { download, load, withView } from './views.mjs';

let site;
before(async () => (site = await share()));
after(() => site.stop());

const still = { ...laptop, reducedMotion: 'reduce' };
const windows = [[1366, 900], [1920, 1080], [390, 844], [683, 450]].map(([width, height]) => ({ width, height }));
const { STOPS, START, END } = await load('lecture/stops/stops.ts');
const places = [START, ...STOPS.map(({ id }) => id), END];

/** Terms of the paper, names, and words of the example of byte-pair encoding. */
const ours = new Set(['teacher', 'forcing', 'BLEU', 'dropout', 'warmup', 'steps', 'Adam', 'BERT', 'GNMT', 'ConvS', 'LSTM', 'lowest', 'newest', 'widest', 'lower', 'padding', 'Xiong']);

const arrive = (page, stop) => page.locator(`[data-stop=${stop}] [data-ring]`).first().waitFor();
const lead = async (page, stop) => {
  await page.evaluate((stop) => (location.hash = `#lecture/${stop}`), stop);
  await arrive(page, stop);
};

/** Where the ring is beside what is free: above the bar, and inside the window. To be run in the page. */
function ringInside(bar) {
  const ring = document.querySelector('[data-testid=ring]')?.getBoundingClientRect();
  const free = document.querySelector(bar).getBoundingClientRect().top;
  if (!ring || ring.width === 0) return false;
  return ring.top >= 0 && ring.bottom <= free && ring.left >= 0 && ring.right <= innerWidth;
}

async function ringed(page, bar, where) {
  await page.getByTestId('ring').waitFor(); // which comes with the translation
  for (const viewport of windows) {
    await page.setViewportSize(viewport);
    await page.waitForFunction(ringInside, bar, { timeout: 30_000 })
      .catch(async () => {
        const ring = JSON.stringify(await page.getByTestId('ring').boundingBox({ timeout: 100 }).catch(() => 'none'));
        assert.fail(`${where}, ${viewport.width}×${viewport.height}: the ring is not in the free area: ${ring}, ${page.url()}`);
      });
  }
}

for (const [locale, language] of [['en', 'en-US'], ['zh', 'zh-CN']]) {
  test(`${locale}: every stop looks right, rings its figure in four windows, and every word is translated`, () =>
    withView(site, { ...still, locale: language }, `#lecture/${places[0]}`, async (page) => {
      for (const stop of places) {
        await lead(page, stop);
        await ringed(page, 'aside.bar', stop);
        for (const { viewport } of [phone, laptop]) {
          await page.setViewportSize(viewport);
          await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
          assert.deepEqual(await page.evaluate(looks), [], `${stop}, ${viewport.width} px`);
        }
        const said = await page.getByTestId('lecture').innerText();
        assert.doesNotMatch(said, /undefined|NaN|[sx]_\w+_|\{\w+\}/, stop);
        if (locale === 'zh') {
          const untranslated = (await page.evaluate(latinWords)).filter((word) => !terms.has(word) && !ours.has(word));
          assert.deepEqual(untranslated, [], stop);
        }
      }
    }));
}

for (const [tour, count] of [['inside', 6], ['attention', 5]]) {
  test(`tour "${tour}": at each stop what is ringed lies in the free area of four windows`, () =>
    withView(site, still, `#picture?tour=${tour}.1`, async (page) => {
      for (let stop = 1; stop <= count; stop++) {
        await page.setViewportSize(windows[0]);
        await page.waitForFunction((tour) => location.hash.includes(`tour=${tour}`), `${tour}.${stop}`);
        await ringed(page, '[data-testid=tour]', `${tour} ${stop}`);
        await page.setViewportSize(windows[0]);
        if (stop < count) await page.getByTestId('tour').getByRole('button', { name: 'Next' }).click();
      }
    }));
}

test('on a phone a stop opens with its title and claim, and its figure comes into view when it is moved', () =>
  withView(site, { ...phone, reducedMotion: 'reduce' }, '#lecture/residual', async (page) => {
    await arrive(page, 'residual');
    await page.getByRole('button', { name: 'Next stop' }).click();
    await arrive(page, 'norm');
    await page.getByTestId('ring').waitFor();
    const seen = (selector) => page.evaluate((selector) => {
      const { top } = document.querySelector(selector).getBoundingClientRect();
      return top >= 0 && top < innerHeight / 2;
    }, selector);
    assert.ok(await seen('h2') && await seen('.prose'), 'title and claim');
    await page.getByRole('radio', { name: 'pre-norm' }).dispatchEvent('click');
    await page.waitForFunction(ringInside, 'aside.bar');
  }));

test('answers are checked, the first one counts, the score is kept, and the last stop sums up', () =>
  withView(site, still, '#lecture/scale', async (page) => {
    const choose = (name) => page.getByTestId('lecture').getByRole('button', { name }).click({ force: true });
    await choose('It falls to less than a fifth');
    await page.getByTestId('because').getByText('Right.').waitFor();
    assert.equal(await page.getByTestId('score').innerText(), '1 of 1 right');
    await lead(page, 'heads');
    await choose('8 times as much');
    await page.getByTestId('because').getByText('Not right.').waitFor();
    await choose('About the same');
    assert.equal(await page.getByTestId('score').innerText(), '1 of 2 right');
    await page.reload();
    await arrive(page, 'heads');
    assert.equal(await page.getByTestId('score').innerText(), '1 of 2 right');
    await lead(page, 'end');
    assert.equal(await page.getByTestId('sum').innerText(), '1 of 20 right, 2 answered');
    await page.getByRole('button', { name: 'Start over' }).click();
    assert.equal(await page.getByTestId('sum').innerText(), '0 of 20 right, 0 answered');
  }));

test('a move of the reader changes the figure: the division by √d_k, and the beam', () =>
  withView(site, still, '#lecture/scale', async (page) => {
    const slide = (name, value) => page.getByRole('slider', { name }).fill(String(value));
    await slide('dₖ', 8);
    await page.getByText('no', { exact: true }).click();
    await page.getByText('100%, score').waitFor();
    await lead(page, 'beam');
    await slide('Beam size', 10);
    await page.getByText(/^Chosen.*\(empty\)/).waitFor();
    await slide('α', 0.6);
    await page.getByText(/^Chosen.*the old dog/).waitFor();
  }));

test('a lecture begins with the whole in one picture; another head changes its matrices, never x, on one scale of signs', () =>
  withView(site, still, '#lecture', async (page) => {
    await arrive(page, 'start');
    await page.getByRole('link', { name: 'Inside one translation' }).waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Where do queries, keys and values come from?' }).click();
    await arrive(page, 'qkv');
    const matrix = (title) => page.locator('.drawing svg svg').filter({ hasText: title });
    const cells = (title) => matrix(title).locator('path').evaluateAll((all) => all.map((one) => `${getComputedStyle(one).fill} ${one.getAttribute('d')}`));
    const [x, keys] = [await cells(/^x/), await cells(/^\s*K/)];
    assert.ok(x.length > 10 && keys.length > 5);
    await page.getByRole('radio', { name: '3' }).dispatchEvent('click');
    await page.locator('svg[aria-label*="head 3"]').waitFor();
    assert.deepEqual(await cells(/^x/), x);
    assert.notDeepEqual(await cells(/^\s*K/), keys);
    // As in the model's picture, numbers above 0 are orange and those below blue.
    const yellow = x.map((cell) => Number(cell.match(/oklab\(\S+ \S+ (\S+)\)/)?.[1] ?? 0));
    assert.ok(Math.max(...yellow) > 0.05 && Math.min(...yellow) < -0.05, `${yellow}`);
  }));

test('a step of training is measured here for every length, and each point is drawn', () =>
  withView(site, { ...still, viewport: windows[0] }, '#lecture/table1', async (page) => {
    page.setDefaultTimeout(180_000); // the machine may be busy
    await page.getByRole('radio', { name: 'measured here' }).check({ force: true });
    assert.equal(await page.locator('.drawing circle').count(), 0);
    await page.getByRole('button', { name: 'Measure', exact: true }).click();
    await page.getByText(/^With 256 tokens, one step of training takes [\d.]+ ms here/).waitFor();
    assert.equal(await page.locator('.drawing circle').count(), 6);
    await page.getByRole('button', { name: 'Measure', exact: true }).waitFor();
  }));

test('presentation: one scene, labels of at least 24 px, arrow keys, Escape', () =>
  withView(site, { ...still, viewport: windows[0] }, '#lecture/scale?present=1', async (page) => {
    for (const stop of STOPS.map(({ id }) => id)) {
      await page.evaluate((stop) => (location.hash = `#lecture/${stop}?present=1`), stop);
      await arrive(page, stop);
      const small = await page.evaluate(() => [...document.querySelectorAll('.drawing text')]
        .filter((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a < 24).map((text) => text.textContent));
      assert.deepEqual(small, [], stop);
    }
    for (const viewport of windows.slice(0, 2)) {
      await page.setViewportSize(viewport);
      for (const stop of places) {
        await page.evaluate((stop) => (location.hash = `#lecture/${stop}?present=1`), stop);
        await page.locator(`[data-stop=${stop}] h2`).waitFor();
        await page.waitForFunction(() => document.documentElement.scrollHeight <= innerHeight, undefined, { timeout: 5000 })
          .catch(() => assert.fail(`${stop} is higher than ${viewport.width}×${viewport.height}`));
      }
    }
    assert.equal(await page.locator('header').isVisible(), false);
    await page.evaluate(() => (location.hash = '#lecture/order?present=1'));
    await arrive(page, 'order');
    assert.ok(await page.locator('.prose').isVisible(), 'the claim comes first');
    await page.getByRole('button', { name: 'Ask the question' }).click();
    assert.equal(await page.locator('.prose').isVisible(), false);
    await page.getByTestId('lecture').getByRole('button', { name: 'Nothing' }).click();
    const reason = await page.getByTestId('because').boundingBox();
    const lower = await page.locator('aside.bar').boundingBox();
    assert.ok(reason.y + reason.height <= lower.y, `the reason ends at ${reason.y + reason.height}, the bar begins at ${lower.y}`);
    await page.evaluate(() => (location.hash = '#lecture/order?present=1'));
    await arrive(page, 'order');
    await page.keyboard.press('ArrowRight');
    await arrive(page, 'scale');
    await page.keyboard.press('ArrowLeft');
    await arrive(page, 'order');
    await page.keyboard.press('Escape');
    await page.locator('header').waitFor();
  }));

test('presentation: a class answers afresh and sees no score; a remote goes on from any control, Space asks', () =>
  withView(site, { ...still, viewport: windows[0] }, '#lecture/scale', async (page) => {
    const answer = (name) => page.getByTestId('lecture').getByRole('button', { name }).click();
    const present = () => page.locator('aside.bar').getByRole('button').last().click();
    const isAnswered = () => page.getByTestId('because').isVisible();
    await answer('It falls to about half');
    await present();
    assert.equal(await page.getByTestId('score').innerText(), '');
    await page.locator('h2').first().focus();
    await page.keyboard.press('Space');
    await page.getByTestId('lecture').getByRole('button', { name: 'It falls to less than a fifth' }).waitFor();
    assert.equal(await isAnswered(), false, 'what was answered before is not told');
    await answer('It falls to less than a fifth');
    await page.getByTestId('because').getByText('Right.').waitFor();
    const slider = page.getByRole('slider', { name: 'dₖ' });
    await slider.focus();
    const before = await slider.inputValue();
    await page.keyboard.press('ArrowLeft');
    assert.notEqual(await slider.inputValue(), before, 'arrows belong to the slider');
    await page.keyboard.press('PageDown');
    await arrive(page, 'qkv');
    await page.getByRole('radio', { name: '1' }).focus();
    await page.keyboard.press('PageUp');
    await arrive(page, 'scale');
    await present();
    assert.equal(await page.getByTestId('score').innerText(), '0 of 1 right');
    await page.getByTestId('because').getByText('Not right.').waitFor();
  }));

test('a figure is saved as SVG and PNG', () =>
  withView(site, still, '#lecture/table1', async (page) => {
    const drawing = await download(page, () => page.getByRole('button', { name: 'Save the figure as SVG' }).click());
    assert.equal(drawing.name, 'table1.svg');
    const svg = drawing.bytes.toString();
    assert.match(svg, /^<svg/);
    assert.match(svg, />self-attention<\/text>/);
    assert.doesNotMatch(svg, /var\(/);
    assert.match(svg, />Why attention and not recurrence\?</, 'its title');
    assert.match(svg, />Cost of four kinds of layers by length</, 'what it shows');
    const picture = await download(page, () => page.getByRole('button', { name: 'Save the figure as PNG' }).click());
    assert.equal(picture.bytes.subarray(1, 4).toString(), 'PNG');
    assert.ok(picture.bytes.length > 8000);
  }));

test('axe finds nothing, and the list of stops leads to them', () =>
  withView(site, still, '', async (page) => {
    const requests = [];
    page.on('request', (request) => requests.push(request.url()));
    await translated(page);
    assert.ok(!requests.some((url) => /LectureView/.test(url)), 'its script comes when it is called for');
    await go(page, 'Lecture');
    await arrive(page, places[0]);
    await show(page, 'lecture');
    await page.getByRole('combobox', { name: 'Stop' }).selectOption('warmup');
    await arrive(page, 'warmup');
    for (const stop of ['qkv', 'mask', 'tokens', 'end']) {
      await lead(page, stop);
      await accessible(page, stop);
    }
  }));
