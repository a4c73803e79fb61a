// The guided tours: every stop in both languages, by the bar, by keys, by links, and on a phone.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { latinWords, looks, names as terms } from './looks.mjs';
import { laptop, phone, share, shifts, show, translated, watchShifts } from './support.mjs';
import { width, withView } from './views.mjs';

let site;
before(async () => (site = await share()));
after(() => site.stop());

const still = { ...laptop, reducedMotion: 'reduce' };
const bar = (page) => page.getByTestId('tour');
const question = (page) => bar(page).locator('.question').innerText();
// The URL changes a moment before the page does.
const newQuestion = (page, before) =>
  page.waitForFunction((before) => document.querySelector('[data-testid=tour] .question')?.innerText !== before, before);
const parameter = (page, name) => page.evaluate((name) => new URLSearchParams(location.hash.split('?')[1]).get(name), name);
const at = (page, stop) => page.waitForFunction((stop) => new URLSearchParams(location.hash.split('?')[1]).get('tour') === stop, stop);

const texts = async (page, selector, ...wanted) => {
  await page.locator(selector).first().waitFor();
  await page.waitForFunction(
    ([selector, wanted]) => wanted.every((text) => [...document.querySelectorAll(selector)].some((one) => one.textContent.includes(text))),
    [selector, wanted]);
};
const crumbs = (...wanted) => (page) => texts(page, '[data-testid=crumbs] li:last-child', ...wanted);
const result = (...wanted) => (page) => texts(page, '[data-testid=after]', ...wanted);

/** On a phone, then on a laptop: nothing is cut off, outside the page or overlapping, and every word is translated. */
async function looksRight(page, where, locale) {
  for (const { viewport } of [phone, laptop]) {
    await page.setViewportSize(viewport);
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    assert.deepEqual(await page.evaluate(looks), [], `${where}, ${viewport.width} px`);
  }
  if (locale === 'zh') {
    const sentences = (await page.locator('main [lang]').allTextContents()).join(' ');
    const untranslated = (await page.evaluate(latinWords)).filter((word) => !terms.has(word) && !sentences.includes(word));
    assert.deepEqual(untranslated, [], where);
  }
}

/** What a visitor sees at each stop, and once its answer is shown. */
const stops = {
  en: {
    inside: [
      (page) => page.getByTestId('figure').locator('[data-place="dec.3.cross"]').waitFor(),
      (page) => texts(page, 'main', 'This model adds no position encoding here: self-attention rotates each query and key'),
      (page) => texts(page, '[data-testid=scene] h3', 'Masked multi-head attention'),
      crumbs('Head 3'),
      (page) => texts(page, '[data-testid=logits] .chosen', 'in'),
      [(page) => texts(page, 'main td', 'He avoided looking at her.'), (page) => texts(page, 'main td', 'He avoided to see her.')],
    ],
    attention: [
      crumbs('Cross-attention'),
      crumbs('“met” → “getroffen”'),
      crumbs('Head 1'),
      [(page) => texts(page, '[data-testid=before]', 'met'), result('made an old friend')],
      [(page) => texts(page, '[data-testid=before]', 'met'), result('got an old friend')],
    ],
  },
  zh: {
    inside: [
      (page) => page.getByTestId('figure').locator('[data-place="dec.3.cross"]').waitFor(),
      (page) => texts(page, '[data-testid=scene]', '位置编码'),
      (page) => texts(page, '[data-testid=scene] h3', '掩码多头注意力'),
      crumbs('第 3 个头'),
      (page) => texts(page, '[data-testid=logits] .chosen', '一'),
      [(page) => texts(page, 'main td', '晚安。'), (page) => texts(page, 'main td', '好点。')],
    ],
    attention: [
      crumbs('交叉注意力'),
      crumbs('“遇” → “met”'),
      crumbs('第 2 个头'),
      [(page) => texts(page, '[data-testid=before]', '公园里遇'), result('公园遇')],
      [(page) => texts(page, '[data-testid=before]', '遇到'), result('里一个老朋友')],
    ],
  },
};

for (const [locale, language] of [['en', 'en-US'], ['zh', 'zh-CN']]) for (const [name, expected] of Object.entries(stops[locale])) {
  test(`${locale}: every stop of "${name}" shows what its question is about; no string is missing`, () =>
    withView(site, { ...still, locale: language }, `#picture?tour=${name}.1`, async (page) => {
      await bar(page).waitFor();
      const next = bar(page).getByRole('button', { name: /^(Next|Finish|下一站|结束)$/ });
      const heights = new Set();
      const asked = new Set();
      for (const [i, shown] of expected.entries()) {
        const [before, afterwards = async () => {}] = [shown].flat();
        await at(page, `${name}.${i + 1}`);
        await before(page);
        await newQuestion(page, [...asked].at(-1));
        asked.add(await question(page));
        await bar(page).getByRole('button', { name: /^(Show the answer|显示答案)$/ }).click();
        await bar(page).locator('.answer').waitFor();
        await afterwards(page);
        const said = await bar(page).innerText();
        assert.doesNotMatch(said, /undefined|stop_|\{/);
        assert.match(said, locale === 'zh' ? /\p{Script=Han}/u : /^[^\p{Script=Han}]+$/u);
        assert.equal(await page.locator('main [role=alert]').count(), 0);
        heights.add((await bar(page).boundingBox()).height);
        const overflow = await bar(page).locator('.texts').evaluate((one) => one.scrollHeight - one.clientHeight);
        assert.ok(overflow <= 1, `stop ${i + 1}: ${overflow} px of the text are cut`);
        await looksRight(page, `stop ${i + 1}`, locale);
        await next.click();
      }
      await bar(page).waitFor({ state: 'detached' });
      assert.equal(asked.size, expected.length);
      assert.ok(expected.length >= 5 && expected.length <= 7);
      assert.equal(heights.size, 1, 'the bar stays as tall');
    }));
}

test('without the head or the mask, a stop does not show the words of its answer', () =>
  withView(site, still, '#intervene?tour=attention.4.answer', async (page) => {
    await result('I made an old friend')(page);
    assert.doesNotMatch(await page.getByTestId('after').innerText(), /met/);
    await page.getByRole('button', { name: 'Switch to Chinese' }).click();
    await result('我昨天')(page);
    assert.doesNotMatch(await page.getByTestId('after').innerText(), /里/);
  }));

test('tours open from the first screen and follow the arrow keys, Escape and Back; text boxes keep their arrow keys', () =>
  withView(site, still, '', async (page) => {
    await translated(page);
    await page.getByRole('link', { name: 'Inside one translation' }).click();
    await at(page, 'inside.1');
    await bar(page).waitFor();
    for (const stop of [2, 3]) {
      const before = await question(page);
      await page.keyboard.press('ArrowRight');
      await at(page, `inside.${stop}`);
      await newQuestion(page, before);
    }
    await page.keyboard.press('ArrowLeft');
    await at(page, 'inside.2');
    await bar(page).getByText('dog bites man').waitFor();
    const first = await question(page);
    await page.getByRole('textbox', { name: 'German' }).focus();
    await page.keyboard.press('ArrowRight');
    assert.equal(await question(page), first);
    await page.evaluate(() => document.activeElement.blur());
    await page.goBack();
    await at(page, 'inside.3');
    await page.reload();
    assert.match(await question(page), /hatched/);
    await page.keyboard.press('Escape');
    await bar(page).waitFor({ state: 'detached' });
    await page.waitForFunction(() => !location.hash.includes('tour'));
    await page.goto(`${site.address}#picture`);
    await page.getByRole('link', { name: 'What attention does' }).waitFor();
  }));

test('the bar never moves the page; large type is kept in the address', () =>
  withView(site, still, '#picture?tour=attention.1', async (page) => {
    await crumbs('Cross-attention')(page);
    await watchShifts(page);
    await bar(page).getByRole('button', { name: 'Show the answer' }).click();
    await bar(page).locator('.answer').waitFor();
    await page.waitForTimeout(300);
    assert.deepEqual(await shifts(page), []);
    const size = () => page.evaluate(() => parseFloat(getComputedStyle(document.documentElement).fontSize));
    const before = await size();
    await bar(page).getByRole('button', { name: 'Large type' }).click();
    assert.ok((await size()) >= 1.4 * before);
    await bar(page).getByRole('button', { name: 'Next' }).click();
    await at(page, 'attention.2');
    await page.reload();
    await bar(page).waitFor();
    assert.ok((await size()) >= 1.4 * before);
    assert.equal(await parameter(page, 'large'), '1');
  }));

test('in large type a map is seen whole beside its bar; a changed translation is ringed with its score', () =>
  withView(site, still, '#picture?tour=attention.3.answer&large=1', async (page) => {
    const map = page.locator('[data-testid=scene] .head .map canvas').first();
    await map.waitFor();
    await page.getByTestId('ring').waitFor();
    assert.ok(await page.getByRole('banner').isHidden(), 'the scene has the room of the header');
    const [box, title, lower] = await Promise.all([map, page.locator('[data-testid=scene] h3'), bar(page)].map((one) => one.boundingBox()));
    assert.ok(box.y >= title.y + title.height - 1, `the map begins at ${box.y}, its title ends at ${title.y + title.height}`);
    assert.ok(box.y + box.height <= lower.y, `the map ends at ${box.y + box.height}, the bar begins at ${lower.y}`);
    await page.goto(`${site.address}#intervene?tour=attention.4.answer`);
    await result('I made an old friend')(page);
    const score = await page.getByTestId('outcome').getByText(/^score/).boundingBox();
    await page.waitForFunction(([top, bottom]) => {
      const ring = document.querySelector('[data-testid=ring]')?.getBoundingClientRect();
      return ring && ring.top <= top && ring.bottom > bottom;
    }, [score.y, score.y + score.height]);
  }));

for (const [name, options] of Object.entries({ laptop: still, phone: { ...phone, reducedMotion: 'reduce' } })) {
  test(`${name}: the bar fits, and axe finds nothing`, () =>
    withView(site, options, '#picture?tour=attention.2.answer', async (page) => {
      await page.getByTestId('arithmetic').waitFor();
      assert.ok((await width(page)) <= options.viewport.width);
      const { y, height } = await bar(page).boundingBox();
      assert.ok(y > options.viewport.height / 2 && Math.abs(y + height - options.viewport.height) < 1);
      const overflow = await bar(page).locator('.texts').evaluate((one) => one.scrollHeight - one.clientHeight);
      assert.ok(overflow <= 1, `${overflow} px of the text are cut`);
      await show(page, `tour-${name}`);
    }));
}
