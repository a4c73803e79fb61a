// The first screen: what it says and shows, where it leads, how honest it is, and that it stands still.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { box, chosen, expected, laptop, phone, share, shifts, show, translate, translated, watchShifts } from './support.mjs';
import { drop, inView, withView } from './views.mjs';

let site;
before(async () => (site = await share()));
after(() => site.stop());

const screen = { viewport: { width: 1366, height: 900 } };
const target = (page) => page.locator('.target [role=group]').innerText();
const note = (page) => page.locator('.note');
const lines = (page) => page.locator('.texts > svg path').count();

/** What is not whole inside the window. */
const outside = (page, selectors) =>
  page.evaluate((selectors) => selectors.filter((selector) =>
    [...document.querySelectorAll(selector)].some((element) => element.getBoundingClientRect().bottom > innerHeight)), selectors);

test('texts, map and three doors fit on one screen under one headline, and each door opens a view', () =>
  withView(site, screen, '', async (page) => {
    await translated(page);
    await page.getByRole('heading', { name: 'See inside a Transformer' }).waitFor();
    assert.deepEqual(await outside(page, ['.box', '.target', '[role=application]', '[data-testid=readout]', 'main nav a']), []);
    const doors = page.getByRole('navigation', { name: 'Where to go next' }).getByRole('link');
    for (const [at, title] of ['Figure', 'Train', 'Interventions'].entries()) {
      await doors.nth(at).click();
      await page.waitForFunction((title) => document.title.startsWith(title), title);
      await page.goBack();
    }
  }));

test('the first screen says what the page is and what to do, and each door shows at once what it promises', () =>
  inView(site, screen, '', async (page) => {
    await translated(page);
    const text = await page.locator('main').innerText();
    const read = [
      'See inside a Transformer', 'This neural network translates while you type, here in your browser.',
      'Point at a word to see which words it attends to.', 'German', 'English', 'See how it works', 'Train your own', 'Break it',
    ].map((words) => text.indexOf(words));
    assert.deepEqual(read, read.toSorted((a, b) => a - b));
    assert.ok(read[0] >= 0, text);
    const button = (name) => page.getByRole('button', { name }).first();
    const figure = page.getByTestId('figure');
    const doors = {
      'See how it works This sentence, through every layer': [figure, button('Play')],
      'Train your own From scratch, here in your browser': [button('Reverse'), button('German → English')],
      'Break it Hide a word, switch a head off': [figure, page.getByText('Click a word below the encoder to hide it')],
    };
    for (const [door, promised] of Object.entries(doors)) {
      await page.getByRole('link', { name: door }).click();
      for (const one of promised) {
        await one.waitFor();
        await page.waitForFunction((element) => {
          const { top, bottom } = element.getBoundingClientRect();
          return top >= 0 && bottom <= innerHeight;
        }, await one.elementHandle());
      }
      await page.goBack();
      await translated(page);
    }
  }));

test('on a phone the doors are equally wide, and no alternative is cut off', () =>
  inView(site, { ...phone, viewport: { width: 390, height: 844 } }, '', async (page) => {
    await translated(page);
    const doors = await page.getByRole('navigation', { name: 'Where to go next' }).getByRole('link').evaluateAll((all) =>
      all.map((door) => ({ left: door.getBoundingClientRect().left, width: door.clientWidth })));
    assert.equal(doors.length, 3);
    assert.deepEqual(doors, Array(3).fill(doors[0]));
    const cut = await page.getByRole('region', { name: 'Alternative translations' }).getByRole('button').evaluateAll((all) =>
      all.filter((one) => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight + 1).map((one) => one.innerText));
    assert.deepEqual(cut, []);
  }));

test('on arrival the words light up in turn, with lines; a key press ends it, and reduced motion skips it', async () => {
  const lit = () => {
    window.lit = new Set();
    const look = () => {
      for (const { dataset } of document.querySelectorAll('.target .piece.active')) window.lit.add(dataset.token);
      requestAnimationFrame(look);
    };
    look();
  };
  const seen = (page) => page.evaluate(() => window.lit.size);
  const prepare = (page) => page.addInitScript(lit);
  await withView(site, laptop, '', async (page) => {
    await translated(page);
    await page.waitForFunction(() => window.lit.size >= 4);
    await page.keyboard.press('Shift');
    const before = await seen(page);
    await page.waitForTimeout(1000);
    assert.equal(await seen(page), before);
    assert.ok((await lines(page)) >= 5, 'the strongest links stay');
    await page.locator('.target [data-token="1"]').hover();
    await page.waitForFunction(() => document.querySelector('.texts > svg.focused path'));
  }, prepare);
  await withView(site, { ...laptop, reducedMotion: 'reduce' }, '', async (page) => {
    await translated(page);
    await page.waitForTimeout(1500);
    assert.equal(await seen(page), 0);
  }, prepare);
});

test('lines still end at their words when an earlier sentence finishes last', () =>
  inView(site, laptop, '#translate?model=de-en', async (page) => {
    await translated(page);
    const text = 'Ich gehe heute ins Kino. Übung macht den Meister, sagte mein alter Lehrer uns jeden Tag. ICH HABE HUNGER';
    await page.locator('#source').fill(text);
    await page.waitForFunction(() => document.querySelector('.target [role=group]')?.ariaBusy === 'false'
      && document.querySelector('.target [data-sentence="2"] [data-token]'));
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    const apart = await page.evaluate(() => {
      const words = [...document.querySelectorAll('.target [data-sentence="2"] [data-token]')].map((word) => word.getClientRects()[0]);
      return [...document.querySelectorAll('.texts > svg path')].map((path) => {
        const { x, y } = path.getPointAtLength(path.getTotalLength()).matrixTransform(path.getScreenCTM());
        return Math.min(...words.map(({ left, width, top }) => Math.hypot(left + width / 2 - x, top - y)));
      });
    });
    assert.ok(apart.length >= 2 && Math.max(...apart) < 2, `${apart}`);
  }));

test('a Chinese browser starts with English → Chinese; a link with a text does not', async () => {
  await withView(site, { ...screen, locale: 'zh-CN' }, '', async (page) => {
    await page.locator('.status li').first().waitFor();
    assert.equal(await page.locator('#source').inputValue(), 'I met an old friend in the park yesterday.');
    assert.equal(await target(page), '我昨天在公园里遇到了一位老朋友。');
  });
  await withView(site, { ...laptop, locale: 'zh-CN' }, `#translate?text=${encodeURIComponent(expected[0].source)}`, async (page) => {
    await page.locator('.status li').first().waitFor();
    await page.locator('.target [role=group][aria-busy=false]').waitFor();
    assert.equal((await target(page)).trim(), expected[0].translation);
  });
});

test('languages are chosen at the text boxes; swapping moves the translation to the source', () =>
  inView(site, laptop, '', async (page) => {
    await translated(page);
    const before = await target(page);
    const into = page.getByRole('combobox', { name: 'Translate into' });
    await page.getByRole('button', { name: 'Swap the languages' }).click();
    await chosen(page, 'en-de');
    assert.equal(await box(page, 'English').inputValue(), before);
    assert.deepEqual((await into.locator('option').allInnerTexts()).toSorted(), ['Chinese', 'German']);
    await into.selectOption('zh');
    await chosen(page, 'en-zh');
    await page.getByRole('combobox', { name: 'Translate from' }).selectOption('fr');
    await chosen(page, 'fr-en');
    await page.getByTitle('There is no model for the other direction yet').waitFor();
    await page.getByRole('combobox', { name: 'Translate from' }).selectOption('de');
    await chosen(page, 'de-en');
  }));

for (const [name, size] of Object.entries({ screen, phone })) {
  test(`${name}: nothing moves while the model loads and while fifty characters are typed`, () =>
    withView(site, size, '', async (page) => {
      await watchShifts(page);
      await translated(page);
      await box(page).fill('');
      await page.keyboard.type('Heute gehe ich mit meiner Schwester in den Park und.', { delay: 90 }); // slow enough to be translated while it is typed
      await translated(page);
      await page.waitForTimeout(300);
      assert.deepEqual(await shifts(page), []);
    }));
}

test('a text in another language is detected, and the right model is offered', () =>
  inView(site, laptop, '', async (page) => {
    await translated(page);
    await translate(page, 'I want to go home because I am tired.');
    await note(page).getByText('This looks like English.').waitFor();
    await note(page).getByRole('button', { name: 'Switch to English → German' }).click();
    await chosen(page, 'en-de');
    assert.match(await box(page, 'English').inputValue(), /^I want to go home/);
    await note(page).getByText('This looks like').waitFor({ state: 'detached' });
  }));

test('the language of a text is said in English and Chinese, unless it is the model\'s or unclear; the detector comes with the first text', async () => {
  const detectors = [];
  const { page, errors, close } = await site.open(laptop, (page) =>
    page.on('request', (request) => /\/detect-[\w-]+\.safetensors$/.test(request.url()) && detectors.push(request.url())));
  await translated(page);
  await page.getByRole('button', { name: 'Another example' }).click();
  await translated(page);
  assert.deepEqual(detectors, [], 'not for examples');
  const said = {
    'Hvad hedder du?': 'This looks like Danish, which this model does not know.',
    你好: 'This looks like Chinese. Switch to Chinese → English',
    'How are you?': 'This looks like English. Switch to English → German',
    'Где находится вокзал?': 'This looks like Russian, which this model does not know.',
  };
  for (const [text, words] of Object.entries(said)) {
    await box(page).fill(text);
    await page.waitForFunction((words) => document.querySelector('.note').innerText.replace(/\s+/g, ' ').trim() === words, words);
  }
  await page.getByRole('button', { name: /切换到中文/ }).click();
  await note(page).getByText('这看起来是俄语，当前模型不支持这种语言。').waitFor();
  for (const text of ['Guten Morgen', 'ok']) {
    await box(page, '德语').fill(text);
    await translated(page);
    assert.ok(!(await note(page).innerText()).includes('这看起来是'), text);
  }
  assert.equal(detectors.length, 1);
  assert.deepEqual(errors, []);
  await close();
});

test('where the detector cannot be fetched, texts are translated, and nothing is said of their language', () =>
  withView(site, laptop, '', async (page, errors) => {
    await translated(page);
    const failed = page.waitForEvent('requestfailed', (request) => request.url().includes('/detect-'));
    await translate(page, 'Where is the station?');
    await failed;
    await page.waitForTimeout(100);
    assert.ok(!(await note(page).innerText()).includes('This looks like'));
    assert.equal(await page.getByRole('alert').count(), 0);
    errors.length = 0; // the browser says that the file was not fetched
  }, (page) => page.route('**/detect-*.safetensors', (route) => route.abort())));

test('a text in letters that the model does not know is copied as it is, and the map of the text before stays', () =>
  inView(site, laptop, '', async (page) => {
    await translated(page);
    const map = page.locator('[role=application]').first();
    const before = await map.boundingBox();
    await box(page).fill('你好！');
    await page.waitForFunction(() => document.querySelector('.target').innerText.trim() === '你好！');
    assert.deepEqual(await map.boundingBox(), before);
    await page.waitForFunction((text) => decodeURIComponent(location.hash).includes(text), '你好！');
    await page.evaluate(() => (location.hash = location.hash.replace('translate', 'picture')));
    await page.getByText('The model does not know these letters').waitFor();
  }));

test('a weak translation is flagged, its doubtful words are marked, and unknown characters are named', () =>
  inView(site, laptop, '', async (page) => {
    await translated(page);
    assert.equal(await note(page).innerText(), '', 'a good one needs no word');
    await translate(page, 'Die Quantenverschränkung widerspricht der Alltagserfahrung.');
    await note(page).getByText(/^The model is unsure/).waitFor();
    assert.ok((await page.locator('.target .piece.unsure').count()) > 0);
    await show(page, 'weak');
    // A model whose vocabulary has no bytes.
    await drop(page, ['tiny.safetensors', readFileSync(new URL('../fixtures/tiny-de-en.safetensors', import.meta.url))]);
    await chosen(page, 'file:tiny.safetensors');
    await box(page, 'German').fill('Hallo 😀 Welt');
    await note(page).getByText('The model does not know these characters: 😀.').waitFor();
    assert.ok(!(await page.locator('main').innerText()).includes('<unk>'));
  }));

test('while the model loads, its progress is in view and nothing old can be copied; an error is in view, too', () => {
  let fail;
  const wait = new Promise((resolve) => (fail = resolve));
  return withView(site, screen, '', async (page, errors) => {
    await page.getByRole('progressbar').waitFor();
    await box(page).fill('Guten Morgen.');
    assert.deepEqual(await outside(page, ['progress']), []);
    await note(page).getByText(/^Loading the model: /).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Copy', exact: true }).isDisabled(), true);
    fail();
    await page.getByRole('alert').waitFor();
    assert.deepEqual(await outside(page, ['[role=alert]']), []);
    errors.length = 0; // the browser says that the file was not fetched
  }, (page) => page.route('**/models/*', (route) => wait.then(() => route.abort())));
});

test('in a text every sentence has its guesses colored, and the line below counts the sentences', () =>
  inView(site, laptop, '', async (page) => {
    await translated(page);
    await translate(page, 'Das ist mein Haus. Die Quantenverschränkung widerspricht der Alltagserfahrung. Es regnet. Der Selfmademan klagt über den Rausch.');
    await note(page).getByText(/^The model is unsure in [12] of 4 sentences/).waitFor();
    assert.ok((await page.locator('.target [data-sentence="1"] .unsure').count()) > 0, 'of a sentence that is not chosen');
    assert.equal(await page.locator('.target [data-sentence="0"] .unsure').count(), 0);
  }));

test('phone: a tap on a translated word shows its attention, a second one the other words; they leave it lit', () =>
  withView(site, phone, '', async (page) => {
    await translated(page);
    const word = page.locator('.target [data-token="1"]');
    const dialog = page.getByRole('dialog', { name: 'Candidates for this step' });
    const lit = () => page.locator('.copy .piece').evaluateAll((pieces) =>
      pieces.filter((piece) => Number(piece.style.getPropertyValue('--weight')) > 0.5).map((piece) => piece.innerText));
    await word.tap();
    await page.locator('.texts > svg.focused path').first().waitFor();
    assert.deepEqual(await lit(), ['getroffen']);
    assert.equal(await dialog.count(), 0);
    await word.tap();
    await dialog.waitFor();
    assert.deepEqual(await lit(), ['getroffen']);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
  }));

test('pressing an alternative selects it, and pressing the best one restores that', () =>
  inView(site, laptop, '', async (page) => {
    await translated(page);
    const all = page.getByRole('region', { name: 'Alternative translations' }).getByRole('button');
    const [best, second] = [await all.nth(0).innerText(), await all.nth(1).innerText()];
    await all.nth(1).click();
    await page.waitForFunction((text) => document.querySelector('.target [role=group]').innerText.trim() === text, second);
    await all.nth(1).and(page.locator('[aria-pressed=true]')).waitFor();
    assert.equal(await all.count(), 4, 'the others stay');
    assert.equal(await note(page).getByText('You fixed the start').count(), 0);
    await all.nth(0).click();
    await page.waitForFunction((text) => document.querySelector('.target [role=group]').innerText.trim() === text, best);
  }));

test('the selected sentence of several has a button to the next; both sides can be read aloud', () =>
  inView(site, laptop, '', async (page) => {
    await page.addInitScript(() => (window.said = []));
    await page.evaluate(() => {
      window.said = [];
      speechSynthesis.speak = ({ text, lang }) => window.said.push([text, lang]);
    });
    await translated(page);
    const [first, second] = expected.filter(({ source }) => /[.?!]$/.test(source));
    await translate(page, `${first.source} ${second.source}`);
    await box(page).press('Control+Home');
    await page.getByText('Sentence 1 of 2').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('Sentence 2 of 2').waitFor();
    assert.equal(await page.locator('.target [data-sentence="1"] .piece').count() > 0, true);
    const listen = page.getByRole('button', { name: 'Listen' });
    await listen.nth(0).click();
    await listen.nth(1).click();
    const said = await page.evaluate(() => window.said);
    assert.deepEqual(said, [[`${first.source} ${second.source}`, 'de'], [`${first.translation} ${second.translation}`, 'en']]);
  }));

test('lines go straight through further lines of the texts, and bend only between the two', () =>
  inView(site, { ...laptop, reducedMotion: 'reduce' }, '', async (page) => {
    await translated(page);
    await page.locator('#source').fill(
      'Ich habe gestern im Park einen alten Freund getroffen, der mir von seiner langen Reise durch viele Länder erzählt hat.');
    await page.waitForFunction(() => document.querySelector('.copy')?.textContent.includes('erzählt')
      && document.querySelector('.target [role=group]')?.ariaBusy === 'false' && document.querySelector('.texts > svg path'));
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    const slanted = await page.evaluate(() => {
      const rects = [...document.querySelectorAll('.copy [data-sentence], .target [data-sentence]')].flatMap((one) => [...one.getClientRects()]);
      const lines = new Set(rects.map(({ top }) => Math.round(top)));
      if (lines.size < 3) return 'the texts have too few lines';
      return [...document.querySelectorAll('.texts > svg path')].filter((path) => {
        const places = Array.from({ length: 60 }, (_, i) =>
          path.getPointAtLength((i / 59) * path.getTotalLength()).matrixTransform(path.getScreenCTM()));
        const isIn = ({ x, y }) => rects.some(({ left, right, top, bottom }) => y > top + 1 && y < bottom - 1 && x > left && x < right);
        const inText = places.filter(isIn);
        const ends = [places[0].x, places.at(-1).x];
        return inText.some(({ x }) => ends.every((end) => Math.abs(x - end) > 1));
      }).length;
    });
    assert.equal(slanted, 0);
  }));
