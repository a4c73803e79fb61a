// The built page, by mouse, keyboard and touch. Run after `npm run build`.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { box, expected, laptop, phone, screenshot, share, smallPhone, translate, translated } from './support.mjs';
import { inView, withView } from './views.mjs';

let site;
before(async () => (site = await share()));
after(() => site.stop());

const withPage = (options, use, prepare) => (prepare ? withView : inView)(site, options, '', use, prepare);

const mapPixels = (page) => page.locator('[role=application] canvas').first().evaluate((canvas) => canvas.toDataURL());
const readout = (page) => page.getByTestId('readout').innerText();
const weights = (page, box) =>
  page.locator(`${box} .piece`).evaluateAll((pieces) => pieces.map((p) => Number(p.style.getPropertyValue('--weight'))));

test('the model loads with a progress bar, and the first sentence is translated', () =>
  withPage(
    laptop,
    async (page) => {
      await translated(page);
      const { shares, texts } = await page.evaluate(() => window.seen);
      assert.ok(shares.length > 2, `the bar moves: ${shares}`);
      assert.deepEqual(shares, [...shares].sort((a, b) => a - b), 'the bar never goes back');
      assert.ok(shares.at(-1) > 0.9, `the bar ends full, not at ${shares.at(-1)}`);
      assert.match(texts.at(-1), /Loading the model: [\d.]+ MB of [\d.]+ MB/);
      await translate(page, expected[0].source);
      const status = await page.getByRole('region', { name: 'Model' }).innerText();
      for (const fact of [/German → English/, /[\d.]+[KM] parameters/, /[\d.]+ MB (F16|F32|INT8|INT4)/, /SIMD/, /\d+ threads?/, /tokens\/s/]) {
        assert.match(status, fact);
      }
      await screenshot(page, 'laptop-light');
    },
    (page) =>
      page.addInitScript(() => {
        window.seen = { shares: [], texts: [] };
        new MutationObserver(() => {
          const bar = document.querySelector('progress');
          if (!bar || bar.position < 0) return;
          window.seen.shares.push(bar.position);
          window.seen.texts.push(bar.closest('label').innerText);
        }).observe(document, { subtree: true, childList: true, attributes: true });
      }),
  ));

test('until the model has loaded, an example translation is shown', () => {
  let release;
  const wait = new Promise((resolve) => (release = resolve));
  return withPage(
    laptop,
    async (page) => {
      await page.getByRole('progressbar').waitFor();
      const example = await page.locator('.target').innerText();
      await page.locator('.target [data-token="1"]').hover();
      assert.match(await readout(page), /attends most to/);
      release();
      await translated(page);
      assert.equal(await page.locator('.target').innerText(), example, 'the model says the same');
    },
    (page) => page.route('**/models/*', (route) => wait.then(() => route.continue())),
  );
});

test('translations match those of the native program', () =>
  withPage(laptop, async (page) => {
    await translated(page);
    assert.ok(expected.length >= 3);
    for (const { source, translation } of expected) assert.equal(await translate(page, source), translation);
  }));

test('further typing cancels earlier work; the text appears token by token', () =>
  withView(site, laptop, '', async (page) => {
    await translated(page);
    const before = await page.locator('.target').innerText();
    const all = expected.map(({ source }) => source).join(' ');
    const { source, translation } = expected.toSorted((a, b) => b.source.length - a.source.length)[0];
    // At the first token of the long text, the short one is typed over it.
    await page.evaluate(({ all, source }) => {
      window.seen = { partial: [], finished: [] };
      const target = document.querySelector('.target');
      const type = (text) => {
        const box = document.getElementById('source');
        box.value = text;
        box.dispatchEvent(new Event('input', { bubbles: true }));
      };
      new MutationObserver(() => {
        if (target.querySelector('[role=group][aria-busy=false]')) window.seen.finished.push(target.innerText);
        if (target.querySelector('.cursor') && window.seen.partial.push(target.innerText) === 1) type(source);
      }).observe(target, { subtree: true, childList: true, characterData: true, attributes: true });
      type(all);
    }, { all, source });
    await page.waitForFunction((text) => window.seen.finished.some((seen) => seen.trim() === text), translation);
    const { partial, finished } = await page.evaluate(() => window.seen);
    assert.ok(new Set(partial).size >= 3, `texts on the way: ${partial.join(' | ')}`);
    const others = finished.filter((text) => text.trim() !== translation && text !== before);
    assert.deepEqual(others, [], 'the text typed over is never finished');
  }));

test('pointing at a target piece highlights source pieces, and vice versa', () =>
  withPage(laptop, async (page) => {
    await translated(page);
    await page.locator('.target [data-token="1"]').hover();
    const lit = await weights(page, '.copy');
    const sum = lit.reduce((a, b) => a + b);
    assert.ok(sum > 0.2 && sum <= 1.0001, `the row's weights without the end token sum to ${sum}`);
    assert.match(await readout(page), /attends most to “.+” \(\d+%\)/);
    await screenshot(page, 'laptop-light-word');

    const word = await page.locator('.copy [data-token="2"]').boundingBox();
    await page.mouse.move(word.x + word.width / 2, word.y + word.height / 2);
    assert.match(await readout(page), /gets most attention from/);
    assert.ok((await weights(page, '.target')).some((weight) => weight > 0));

    const canvas = page.locator('[role=application] canvas').last();
    await canvas.hover({ position: { x: 120, y: 120 } });
    assert.match(await readout(page), /“.+” attends [\d.]+% to “.+”/);
    await page.mouse.move(1, 1);
    assert.ok((await weights(page, '.copy')).every((weight) => weight === 0), 'nothing is lit when nothing is pointed at');
  }));

test('the keyboard alone reaches everything', () =>
  withPage(laptop, async (page) => {
    await translated(page);
    const reached = new Set();
    for (let i = 0; i < 45; ++i) {
      await page.keyboard.press('Tab');
      const kind = await page.evaluate(() => {
        const element = document.activeElement;
        return element.getAttribute('role') ?? element.tagName.toLowerCase();
      });
      reached.add(kind);
      if (kind === 'textarea') assert.match(await page.evaluate(() => document.activeElement.value), /\w/);
      if (kind === 'button' && (await page.evaluate(() => document.activeElement.matches('.piece')))) {
        const token = () => page.evaluate(() => Number(document.activeElement.dataset.token));
        const before = await token();
        await page.keyboard.press('ArrowRight');
        assert.equal(await token(), before + 1);
        assert.ok((await weights(page, '.copy')).some((weight) => weight > 0));
        reached.add('piece');
      }
      if (kind === 'application') {
        await page.keyboard.press('ArrowDown');
        await page.keyboard.press('ArrowRight');
        const cell = await readout(page);
        assert.match(cell, /attends [\d.]+% to/);
        await page.keyboard.press('ArrowDown');
        assert.notEqual(await readout(page), cell);
      }
    }
    for (const kind of ['a', 'button', 'textarea', 'piece', 'select', 'radio', 'application']) {
      assert.ok(reached.has(kind), `Tab reaches ${kind}; it reached ${[...reached]}`);
    }
  }));

test('alternatives have scores, with the best first', () =>
  withPage(laptop, async (page) => {
    await translated(page);
    const scores = await page.locator('main ol .score').allInnerTexts();
    assert.ok(scores.length >= 1);
    const numbers = scores.map((score) => Number(score.replace('−', '-')));
    assert.deepEqual(numbers, [...numbers].sort((a, b) => b - a));
  }));

for (const [name, size] of Object.entries({ phone, 'small-phone': smallPhone })) {
  test(`${name}: nothing is wider than the screen, and a tap shows a cell`, () =>
    withPage(size, async (page) => {
      await translated(page);
      const width = () => page.evaluate(() => document.documentElement.scrollWidth);
      assert.equal(await width(), size.viewport.width);
      await page.locator('[role=application] canvas').last().tap({ position: { x: 130, y: 110 } });
      assert.match(await readout(page), /attends [\d.]+% to/);
      await screenshot(page, `${name}-light`);
      await translate(page, expected.map(({ source }) => source).join(' '));
      assert.equal(await width(), size.viewport.width, 'with a long sentence too');
    }));
}

test('dark mode follows the system or the button, and the choice is remembered', () =>
  withPage({ ...phone, colorScheme: 'dark' }, async (page) => {
    await translated(page);
    const paper = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const dark = await paper();
    await screenshot(page, 'phone-dark');
    await page.setViewportSize(laptop.viewport);
    await screenshot(page, 'laptop-dark');
    const map = await mapPixels(page);
    await page.getByRole('button', { name: 'Switch to Light' }).click();
    assert.notEqual(await paper(), dark);
    assert.notEqual(await mapPixels(page), map, 'the map has the colours of the theme');
    await page.reload();
    assert.notEqual(await paper(), dark);
  }));

test('the page is available in Chinese', () =>
  withPage(laptop, async (page) => {
    await translated(page);
    await page.getByText('中文').click();
    await page.getByRole('heading', { name: '注意力' }).waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.lang), 'zh-Hans');
    assert.equal(await box(page, '德语').count(), 1);
  }));

test('typed text is never treated as HTML', () =>
  withPage(laptop, async (page) => {
    await translated(page);
    await translate(page, '<img src="x" onerror="document.title=1"> <b>Guten Tag</b>');
    assert.equal(await page.locator('main img, main b').count(), 0);
    assert.equal(await page.title(), 'Wasmformer: see inside a Transformer');
  }));

test('the page obeys its own security policy, also in the worker', async () => {
  // As a header it binds the worker as well, which does not take the policy of the page's <meta>.
  const policy = (await fetch(site.address)).headers.get('Content-Security-Policy');
  await withPage(laptop, async (page) => {
    assert.ok(policy.startsWith(await page.locator('meta[http-equiv=Content-Security-Policy]').getAttribute('content')));
    await translated(page);
    await translate(page, expected[0].source);
    assert.deepEqual(await page.getByRole('alert').allInnerTexts(), []);
  });
  for (const loose of ["'unsafe-inline'", "'unsafe-eval'", 'http:', '*', 'data:', 'blob:']) assert.ok(!policy.includes(loose), policy);
});

test('nothing is loaded from another host', () => {
  const hosts = new Set();
  return withPage(
    laptop,
    async (page) => {
      await translated(page);
      assert.deepEqual([...hosts], [new URL(site.address).host]);
    },
    async (page) => page.on('request', (request) => request.url().startsWith('http') && hosts.add(new URL(request.url()).host)),
  );
});
