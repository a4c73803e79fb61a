// Translate: long texts, candidates of a step, and a page that never blocks.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { brotliCompressSync } from 'node:zlib';
import { box, builtPage, expected, go, laptop, phone, share, show, translate, translated } from './support.mjs';
import { inView } from './views.mjs';

let site;
before(async () => (site = await share()));
after(() => site.stop());

const withPage = (options, use, path = '') => inView(site, options, path, async (page) => {
  await translated(page);
  await use(page);
});

const target = (page) => page.locator('.target [role=group]').innerText();

test('a long text is split into sentences and reassembled with its line breaks', () =>
  withPage(laptop, async (page) => {
    const [first, second, third] = expected.filter(({ source }) => /[.?!]$/.test(source));
    const text = `${first.source} ${second.source}\n\n  ${third.source}\n`;
    assert.equal(await translate(page, text), `${first.translation} ${second.translation}\n\n  ${third.translation}`);
    // Abbreviations and ordinals end no sentence; what never ends is cut.
    await translate(page, 'Wir kommen am 3. Mai mit Dr. Schmidt. Danke.');
    assert.equal(await page.locator('.target [data-sentence]').count(), 2);
    await translate(page, 'Wort '.repeat(300));
    assert.ok((await page.locator('.target [data-sentence]').count()) >= 3);
    assert.equal(await page.getByRole('alert').count(), 0);
  }));

test('the sentence at the caret, or the one that is clicked, is inspected', () =>
  withPage(laptop, async (page) => {
    const [first, second] = expected;
    await translate(page, `${first.source} ${second.source}`);
    const best = (text) => page.getByRole('region', { name: 'Alternative translations' }).locator('li').first().filter({ hasText: text }).waitFor();
    await box(page).press('Control+Home');
    await best(first.translation);
    await box(page).press('Control+End');
    await best(second.translation);
    // Pieces light up in any sentence that is pointed at.
    await page.locator('.target [data-sentence="0"]').hover();
    await page.locator('.target [data-sentence="0"] [data-token="1"]').hover();
    const lit = await page.locator('.copy [data-sentence="0"] .piece').evaluateAll((pieces) =>
      pieces.map((piece) => Number(piece.style.getPropertyValue('--weight'))));
    assert.ok(lit.some((weight) => weight > 0));
    // The arrow keys go on into the next sentence.
    await page.locator('.target [data-sentence="0"] [data-token="0"]').click();
    await page.keyboard.press('Escape');
    await page.locator('.target [data-sentence="0"] [data-token="0"]').focus();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowRight');
    assert.equal(await page.evaluate(() => document.activeElement.closest('[data-sentence]').dataset.sentence), '1');
  }));

test("the visitor's own terms are used at once, after a reload, and in the pictures; removing them ends that", () =>
  withPage(laptop, async (page) => {
    await translate(page, 'Mein Hund ist sehr alt.');
    await page.getByRole('button', { name: 'Terms', exact: true }).click();
    const form = page.getByRole('region', { name: 'Your terms' });
    await form.getByLabel('Term 1 in German').fill('Hund');
    await form.getByLabel('Its translation into English, 1').fill('poodle');
    await page.getByText(/^My poodle/).first().waitFor();
    await page.reload();
    await page.getByText(/^My poodle/).first().waitFor();
    await go(page, 'Inside');
    await page.getByText('poodle').first().waitFor();
    await go(page, 'Translate');
    await page.getByRole('button', { name: 'Terms', exact: true }).click();
    await form.getByRole('button', { name: 'Remove term 1' }).click();
    await page.getByText('My dog is very old.').first().waitFor();
  }));

for (const [name, size] of Object.entries({ laptop, phone })) {
  test(`${name}: a candidate of a step, chosen by mouse or keyboard, fixes the start of the translation`, () =>
    withPage(size, async (page) => {
      const before = await target(page);
      const piece = page.locator('.target [data-token="1"]');
      await piece.click();
      const dialog = page.getByRole('dialog', { name: 'Candidates for this step' });
      const shares = (await dialog.locator('.share').allInnerTexts()).map(parseFloat);
      assert.ok(shares.length >= 5);
      assert.deepEqual(shares, shares.toSorted((a, b) => b - a));
      assert.equal(await dialog.locator('[aria-current] .text').innerText(), await piece.innerText());
      await show(page, `${name}-candidates`);
      const other = await dialog.locator('li .text').nth(1).innerText();
      await dialog.locator('li button').nth(1).click();
      await page.getByText('You fixed the start').waitFor();
      await translated(page);
      const first = before.split(' ')[0];
      assert.ok((await target(page)).startsWith(`${first} ${other}`), await target(page));
      await page.getByRole('button', { name: 'Reset' }).click();
      await page.waitForFunction((text) => document.querySelector('.target [role=group]').innerText === text, before);

      await piece.focus();
      await page.keyboard.press('Enter');
      await dialog.waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'hidden' });
      await page.keyboard.press('Enter');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.getByText('You fixed the start').waitFor();
      await translated(page);
      assert.ok((await target(page)).startsWith(`${first} ${other}`));
      assert.equal(await page.evaluate(() => document.activeElement.innerText), other, 'the focus stays at its place');
    }));
}

/** The longest task of the page's main thread, in milliseconds of the processor: other programs do not count. */
function longestTask(trace) {
  const { traceEvents } = JSON.parse(trace);
  const main = traceEvents.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain');
  const tasks = traceEvents.filter(({ name, tid, pid }) =>
    name.endsWith('RunTask') && main.some((thread) => thread.tid === tid && thread.pid === pid));
  assert.ok(tasks.length > 100, `${tasks.length} tasks`);
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur / 1000));
}

test('choosing the end token as a candidate ends the translation', () =>
  withPage(laptop, async (page) => {
    assert.equal(await translate(page, 'Guten Morgen'), 'Good morning');
    await page.locator('.target [data-token]').last().click();
    await page.getByRole('dialog').getByRole('button', { name: /^end/ }).click();
    await page.getByText('You fixed the start').waitFor();
    await translated(page);
    assert.equal((await target(page)).trim(), 'Good');
  }));

test('typing in 5,000 characters never blocks the page for longer than 50 ms', () =>
  withPage(laptop, async (page) => {
    const browser = page.context().browser();
    const all = expected.map(({ source }) => source).join(' ');
    const longest = [];
    // Other programs may hold the page up once, but not every time.
    while (longest.length < 4 && !(Math.min(...longest) <= 50)) {
      await browser.startTracing(page, { categories: ['toplevel'] });
      await box(page).fill(`${all} `.repeat(Math.ceil(5000 / all.length)).slice(0, 5000));
      await box(page).press('Control+End');
      await page.keyboard.type(' Und dann gingen wir nach Hause.', { delay: 30 });
      await box(page).press('Control+Home');
      await page.keyboard.type('Ja, so war das. ', { delay: 30 });
      await translated(page);
      longest.push(longestTask((await browser.stopTracing()).toString()));
    }
    assert.ok(Math.min(...longest) <= 50, `${longest} ms`);
  }));

/** How much longer than alone a program takes now, because others share the processor. */
function slowdown() {
  const [began, before] = [performance.now(), process.cpuUsage()];
  let used = 0;
  while (used < 50) {
    const { user, system } = process.cpuUsage(before);
    used = (user + system) / 1000;
  }
  return Math.max(1, (performance.now() - began) / used);
}

test('the first translation appears within a second of a warm load', () =>
  withPage(laptop, async (page) => {
    await page.addInitScript(() =>
      new MutationObserver(() => {
        if (document.querySelector('.status .speed')) window.ready ??= performance.now();
      }).observe(document, { subtree: true, childList: true }));
    await translate(page, expected[0].source); // since the bundled example needs no translation
    await page.waitForURL(/text=Wo/);
    const times = [];
    while (times.length < 6 && !(Math.min(...times) <= 1000)) {
      await page.reload();
      await translated(page);
      times.push((await page.evaluate(() => window.ready)) / slowdown());
    }
    assert.ok(Math.min(...times) <= 1000, `${times.map(Math.round)} ms`);
  }));

test('the first screen loads at most 160 KB of script, compressed; training and the other views have bounds of their own', async () => {
  const folder = join(builtPage, 'assets');
  // Without the decoder of Zstandard, which is fetched for models packed with it.
  const scripts = readdirSync(folder).filter((name) => name.endsWith('.js') && !name.startsWith('zstd-'));
  const bytes = (names) =>
    names.reduce((sum, name) => sum + brotliCompressSync(readFileSync(join(folder, name))).length, 0);
  // Trainer and the pairs that come with the page are in chunks of their own, since correcting a translation needs both;
  // so are the settings of a training, which the laboratory needs too.
  const views = {
    training: { names: /^(TrainView|record|trainer|speed\.svelte|shipped|decode|pairs-worker)-/, most: 50_000 },
    choices: { names: /^Choices-/, most: 5_600 }, // what can be chosen for a training
    laboratory: { names: /^(LaboratoryView|laboratory\.svelte)-/, most: 14_000 },
    table3: { names: /^Table3View-/, most: 3_300 },
    confusion: { names: /^Confusion-/, most: 2_000 },
    backwards: { names: /^BackwardsView-/, most: 7_500 },
    beam: { names: /^BeamScene-/, most: 5_200 },
    code: { names: /^CodeView-/, most: 9_000 }, // with the program that it shows
    counting: { names: /^counting-/, most: 2_000 }, // parameters on the figure
    lecture: { names: /^(LectureView|step-time)-/, most: 23_500 }, // with its twenty figures
    export: { names: /^export-/, most: 1_900 }, // figures as files; fetched when one is saved
  };
  const ofViews = Object.values(views).map(({ names }) => scripts.filter((name) => names.test(name)));
  const rest = scripts.filter((name) => !ofViews.flat().includes(name));
  const sizes = [bytes(rest), ...ofViews.map(bytes)];
  const isSmall = Object.values(views).every(({ most }, i) => sizes[i + 1] > 0 && sizes[i + 1] <= most);
  assert.ok(isSmall && sizes[0] <= 169_000, `${sizes}`);
  const loaded = new Set();
  const { page, close } = await site.open(laptop, (page) =>
    page.on('request', (request) => loaded.add(request.url().match(/assets\/([\w.-]+\.js)$/)?.[1])));
  try {
    await translated(page);
    const first = bytes(scripts.filter((name) => loaded.has(name)));
    assert.ok(loaded.size >= 3 && first <= 160_000, `${first}`);
  } finally {
    await close();
  }
});

test('the first screen loads without the strings of other views', async () => {
  const requests = [];
  const { page, close } = await site.open(laptop, (page) => page.on('request', (request) => requests.push(request.url())));
  try {
    await translated(page);
    const words = () => requests.filter((url) => url.includes('/words/'));
    assert.deepEqual(words(), []);
    await page.getByRole('link', { name: 'Classify and tag', exact: true }).click();
    await page.getByRole('textbox', { name: 'Text', exact: true }).waitFor();
    assert.deepEqual(words().map((url) => url.match(/([\w.]+)-[\w-]{8}\.js$/)[1]), ['classify.en']);
  } finally {
    await close();
  }
});

test('a link restores sentence and view, also in the history', () =>
  withPage(
    laptop,
    async (page) => {
      assert.equal(await box(page).inputValue(), 'Guten Morgen & <b>danke</b>.');
      await translate(page, 'Gute Nacht.');
      await go(page, 'About');
      await page.getByRole('heading', { name: 'What is this?' }).waitFor();
      assert.match(page.url(), /#about\?text=Gute\+Nacht\.$/);
      assert.equal(await page.title(), 'About · Wasmformer');
      await page.goBack();
      assert.equal(await box(page).inputValue(), 'Gute Nacht.');
      await page.reload();
      await translated(page);
      assert.equal(await box(page).inputValue(), 'Gute Nacht.');
    },
    `#translate?text=${encodeURIComponent('Guten Morgen & <b>danke</b>.')}`,
  ));
