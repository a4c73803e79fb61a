// How it works: figure 1 of the paper, drawn from the model, down to the arithmetic of one cell.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Translator } from '../../dist/index.js';
import { accessible, box, builtPage, expected, laptop, phone, share, show } from './support.mjs';
import { inView, native, watchWorkers, width, withView } from './views.mjs';

let site;
const sentence = expected[1].source;
const still = { ...laptop, reducedMotion: 'reduce' }; // zooms take no time
const address = (at, more = {}) => `#picture?${new URLSearchParams({ text: sentence, ...(at && { at }), ...more })}`;
before(async () => (site = await share()));
after(() => site.stop());

const figure = (page) => page.getByTestId('figure');
const ready = (page) => figure(page).waitFor({ state: 'attached' });
const at = (page, id) => figure(page).locator(`[data-place="${id}"]`);
const scene = (page) => page.getByTestId('scene');
const crumbs = async (page) => (await page.getByTestId('crumbs').locator('li').allInnerTexts()).map((text) => text.trim());
const place = (page) => page.evaluate(() => new URLSearchParams(location.hash.split('?')[1]).get('at'));
const settled = (page) => page.waitForFunction(() => document.querySelectorAll('.scene').length < 2);
/** What the package makes of the sentence in Node. */
async function translated() {
  const translator = await Translator.load(await readFile(join(builtPage, 'models/de-en.safetensors')));
  const result = await translator.translate(sentence, { beamSize: 4, attention: true, topTokens: 8 });
  translator.dispose();
  return result;
}
function near(text, wanted, most) {
  const shown = parseFloat(text.replace('−', '-'));
  assert.ok(Math.abs(shown - wanted) <= most, `${text} is not ${wanted}`);
}
const explanation = (page) => page.getByTestId('explanation').innerText();

test('the figure shows the layers, sublayers and heads of the model, and the words of the sentence', () =>
  inView(site, laptop, address(), async (page) => {
    await ready(page);
    const wanted = native(sentence);
    for (const stack of ['encoder', 'decoder']) {
      const name = stack.slice(0, 3);
      for (let layer = 1; layer <= wanted[stack].layers; ++layer) {
        assert.equal(await at(page, `${name}.${layer}.self`).locator('.ground').count(), wanted[stack].heads);
        assert.equal(await at(page, `${name}.${layer}.ffn`).count(), 1);
      }
      assert.equal(await at(page, `${name}.${wanted[stack].layers + 1}`).count(), 0);
    }
    assert.equal(await at(page, 'dec.1.self').locator('.hatch').count(), wanted.decoder.heads, 'the mask is hatched');
    assert.equal(await at(page, 'dec.1.cross').locator('.hatch').count(), 0);
    const words = (await figure(page).locator('.tokens').first().locator('text').allTextContents()).join(' ');
    assert.equal(words, wanted.source_tokens.map((piece) => (piece === '</s>' ? 'end' : piece.replace('▁', ''))).join(' '));
  }));

test('zoom by mouse: layer, sublayer, head, cell; the address and the breadcrumb say where, and a reload stays there', () =>
  inView(site, still, address('', { step: '4' }), async (page) => {
    await ready(page);
    await at(page, 'dec.2').locator('text').click();
    assert.deepEqual(await crumbs(page), ['Model', 'Decoder', 'Layer 2']);
    await at(page, 'dec.2.cross').click();
    await scene(page).waitFor();
    assert.match(await explanation(page), /Cross-attention[^]*§3\.2\.3/);
    const heads = page.getByTestId('head');
    assert.equal(await heads.count(), native(sentence).cross.heads);
    await heads.nth(2).click();
    const canvas = page.locator('[role=application] canvas').last();
    const map = await canvas.boundingBox();
    await canvas.click({ position: { x: map.width / 2, y: map.height - 14 } });
    const found = (await crumbs(page)).at(-1);
    assert.match(found, /^“.+” → “.+”$/);
    assert.match(await explanation(page), /§3\.2\.1/);
    await page.waitForFunction(() => /at=dec\.2\.cross\.h3\.\d+-\d+/.test(location.hash));
    // The page's own weight is that of the model and of the native program.
    const weight = page.getByTestId('weight');
    const own = Number(await weight.locator('mn').last().textContent());
    const [, row, column] = /h3\.(\d+)-(\d+)/.exec(await place(page)).map(Number);
    const { cross } = native(sentence);
    const wanted = cross.data[((1 * cross.heads + 2) * cross.rows + row - 1) * cross.columns + column - 1];
    assert.ok(Math.abs(own - wanted) < 2e-3, `${own} is not ${wanted}`);
    await settled(page);
    await show(page, 'picture-cell-laptop');
    await page.reload();
    await scene(page).waitFor();
    assert.deepEqual(await crumbs(page), ['Model', 'Decoder', 'Layer 2', 'Cross-attention', 'Head 3', found]);
    await page.getByTestId('crumbs').getByRole('button', { name: 'Decoder' }).click();
    await scene(page).waitFor({ state: 'detached' });
    assert.deepEqual(await crumbs(page), ['Model', 'Decoder']);
  }));

test('zoom by keyboard: arrows, Enter, and Escape all the way out', () =>
  inView(site, laptop, address(), async (page) => {
    await ready(page);
    await at(page, 'dec.1.self').focus();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    assert.equal(await page.evaluate(() => document.activeElement.dataset.place), 'dec.1.cross');
    await page.keyboard.press('Enter');
    await page.getByTestId('head').first().focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.getByRole('application').focus();
    await page.keyboard.press('ArrowLeft');
    await page.getByTestId('arithmetic').waitFor();
    assert.deepEqual((await crumbs(page)).slice(0, 5), ['Model', 'Decoder', 'Layer 1', 'Cross-attention', 'Head 2']);
    for (let left = 5; left > 0; --left) {
      await page.keyboard.press('Escape');
      assert.equal((await crumbs(page)).length, left);
    }
    assert.equal(await page.evaluate(() => document.activeElement.closest('[data-place]')?.dataset.place), 'dec');
  }));

test('a step adds a token; playing goes from box to box, and pauses', () =>
  inView(site, still, address('', { step: '2' }), async (page) => {
    await ready(page);
    const tokens = native(sentence).target_tokens;
    const written = async () => (await page.getByTestId('written').locator('text').allTextContents());
    assert.deepEqual(await written(), ['start', ...tokens.slice(0, 2).map((piece) => piece.replace('▁', ''))]);
    await page.getByTestId('scrubber').focus();
    await page.keyboard.press('ArrowRight');
    assert.equal((await written()).length, 4);
    assert.equal(await page.locator('[data-testid=chart] .chosen .piece').textContent(), tokens[2].replace('▁', ''));
    await page.getByRole('button', { name: 'Next box' }).click();
    assert.deepEqual(await page.locator('.box.now').evaluateAll((all) => all.map(({ dataset }) => dataset.place)), ['dec.embed']);
    assert.match(await explanation(page), /^Output embedding/);
    await page.getByRole('button', { name: 'Play' }).click();
    await page.locator('[data-place="dec.1.self"].now').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByTestId('scrubber').press('End');
    assert.equal((await written()).length, tokens.length + 1);
    // A link to another step leads there, and so does the way back.
    await page.waitForFunction((last) => location.hash.includes(`step=${last}`), tokens.length);
    const count = (wanted) => page.waitForFunction((wanted) =>
      document.querySelectorAll('[data-testid=written] text').length === wanted, wanted);
    await page.evaluate((hash) => (location.hash = hash), address('', { step: '1' }));
    await count(2);
    await page.goBack();
    await count(tokens.length + 1);
  }));

test("while another model loads, the picture never shows one model's name with the other's numbers", () =>
  withView(site, laptop, address(), async (page) => {
    await ready(page);
    await page.evaluate(() => {
      window.seen = new Set();
      const look = () => {
        const texts = (selector) => [...document.querySelectorAll(`[data-testid=figure] ${selector}`)].map((one) => one.textContent);
        const title = texts('.plaque .title')[0];
        if (title) window.seen.add(JSON.stringify([title, texts('.tokens:not([data-testid]) text')]));
        requestAnimationFrame(look);
      };
      look();
    });
    await page.evaluate((hash) => (location.hash = hash), address('', { model: 'en-zh' }));
    await figure(page).getByText('English → Chinese').waitFor({ state: 'attached' });
    await page.waitForTimeout(1000);
    const seen = (await page.evaluate(() => [...window.seen])).map((one) => JSON.parse(one));
    assert.deepEqual(seen.map(([title]) => title), ['German → English', 'English → Chinese'], JSON.stringify(seen));
    assert.notDeepEqual(seen[0][1], seen[1][1], 'their tokens differ');
  }));

test('every kind of box opens, with numbers that agree', () =>
  inView(site, still, address('enc.1.selfNorm'), async (page) => {
    await ready(page);
    const after = await page.getByTestId('moments').locator('td:last-child').allInnerTexts();
    assert.ok(after.every((text) => Math.abs(Number(text) - 1) < 0.5), `deviations after the norm: ${after}`);
    const goTo = async (hash) => {
      await page.evaluate((hash) => (location.hash = hash), hash);
      await settled(page);
    };
    await goTo(address('enc.2.ffn'));
    const share = Number((await page.getByTestId('zeros').innerText()).match(/(\d+)%/)[1]);
    assert.ok(share > 40 && share < 100, `${share} % of the activations are 0`);
    assert.equal(await scene(page).locator('figure').count(), 3, 'x, the hidden numbers, and what comes back');
    await accessible(page, 'feed forward');
    await goTo(address('dec.embed'));
    assert.equal(await scene(page).locator('figure').count(), 1, 'an embedding: rotary positions are not added to it');
    await goTo(address('out.softmax', { step: '1' }));
    // The package gives the same numbers in Node.
    const wanted = await translated();
    const rows = await page.getByTestId('logits').locator('tbody tr').evaluateAll((all) =>
      all.map(({ cells }) => [...cells].map((cell) => cell.textContent)));
    wanted.targetTokens[0].top.forEach(({ piece, logProbability }, i) => {
      const [name, logit, , share] = rows[i];
      assert.equal(name, piece === '</s>' ? 'end' : piece.replace('▁', '') || '␣');
      near(logit, logProbability - wanted.targetTokens[0].top[0].logProbability, 0.01);
      near(share, 100 * Math.exp(logProbability), 0.02 + Math.exp(logProbability));
    });
    await goTo(address('enc.1.self.h2.2-3'));
    near(await page.getByTestId('weight').locator('mn').last().textContent(), wanted.attention.encoder.map(0, 1)[1 * wanted.attention.encoder.columns + 2], 0.005);
    await goTo(address('dec.3.self'));
    assert.equal(await scene(page).locator('.map svg').count(), native(sentence).decoder.heads, 'the mask is hatched');
    await show(page, 'picture-sublayer-laptop');
  }));

test('a model with rotary positions says so; where positions are added, the embedding, they and their sum are shown', () =>
  inView(site, still, address(), async (page) => {
    await page.getByTestId('figure').getByText('Rotary positions (the paper adds sines and cosines)').waitFor();
    await page.evaluate((hash) => (location.hash = hash), address('enc.embed'));
    await page.getByText(/This model adds no position encoding here: self-attention rotates each query and key/).waitFor();
    await page.evaluate((hash) => (location.hash = hash), address('enc.embed', { model: 'en-de', text: 'Good morning.' }));
    await page.getByText(/so a second row that encodes the position is added/).waitFor();
    await scene(page).locator('figure').nth(2).waitFor();
    assert.equal(await scene(page).locator('figure').count(), 3, 'embedding, position and sum');
    assert.equal(await page.getByText('Rotary positions').count(), 0);
  }));

test("in every encoder layer and the first decoding steps, the page's weights match the native program", () =>
  // Of a sentence in which page and program round all int8 inputs alike.
  inView(site, still, address('enc', { text: expected[3].source }), async (page) => {
    await ready(page);
    const wanted = native(expected[3].source);
    /** The strongest cell of a row of the first head. */
    const compare = async (name, maps, layer, row) => {
      const begin = (layer * maps.heads * maps.rows + row) * maps.columns;
      const weights = maps.data.slice(begin, begin + maps.columns);
      const weight = Math.max(...weights);
      const hash = address(`${name}.h1.${row + 1}-${weights.indexOf(weight) + 1}`, { text: expected[3].source, step: String(row + 1) });
      await page.evaluate((hash) => (location.hash = hash), hash);
      await page.waitForFunction((weight) => Math.abs(
        Number(document.querySelector('[data-testid=weight] math > mn')?.textContent) - weight) < 2e-3, weight);
      const shares = await page.getByTestId('arithmetic').locator('td:nth-child(4)').allInnerTexts();
      near(String(shares.map(parseFloat).reduce((a, b) => a + b)), 100, maps.columns / 2);
    };
    for (let layer = 0; layer < wanted.encoder.layers; ++layer) await compare(`enc.${layer + 1}.self`, wanted.encoder, layer, 0);
    const last = wanted.cross.layers - 1;
    for (let step = 0; step < 3; ++step) {
      await compare(`dec.${last + 1}.cross`, wanted.cross, last, step);
      assert.equal(await page.locator('[data-testid=chart] .chosen .piece').textContent(), wanted.target_tokens[step].replace('▁', ''));
    }
  }));

test('every sentence and every change is translated once; the result for another sentence is marked as stale', () =>
  withView(site, laptop, address('', { heads: 'cross:2:1' }).replace('picture', 'intervene'), async (page) => {
    const other = 'Guten Morgen.';
    const shown = async (source) => page.waitForFunction((text) =>
      document.querySelector('[data-testid=after]')?.innerText === text && !document.querySelector('.stale'),
    native(source, '--mask-heads', 'cross:2:1').text);
    await shown(sentence);
    await page.evaluate(() => {
      window.seen = [];
      new MutationObserver(() => {
        const [before, after] = ['before', 'after'].map((id) => document.querySelector(`[data-testid=${id}]`)?.innerText);
        if (after && !document.querySelector('.stale')) window.seen.push([before, after]);
      }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
    });
    await box(page).fill(other);
    await shown(other);
    const [before, after] = await Promise.all(['before', 'after'].map((id) => page.getByTestId(id).innerText()));
    const seen = (await page.evaluate(() => window.seen)).filter(([text]) => text === before).map(([, text]) => text);
    assert.deepEqual([...new Set(seen)], [after]);
    await page.getByRole('button', { name: 'Undo all changes' }).click();
    await page.waitForFunction(() => !document.querySelector('.stale, [data-testid=after]'));
    const asked = await page.evaluate(() => window.asked.filter(({ method }) => method === 'translate')
      .map(({ wanted: { texts, options } }) => [texts[0], JSON.parse(options)]).filter(([, { internals }]) => internals)
      .map(([text, { maskedHeads }]) => [text, maskedHeads.length]));
    assert.deepEqual(asked, [[sentence, 1], [other, 1], [other, 0]]);
  }, watchWorkers));

test('the figure follows another sentence and a pre-norm model', () =>
  inView(site, laptop, `#picture?${new URLSearchParams({ model: 'en-zh', text: 'Why do we work?' })}`, async (page) => {
    await figure(page).getByText('Norm before each sublayer').waitFor({ state: 'attached' });
    assert.equal(await at(page, 'dec.norm').count(), 1);
    await box(page, 'English').fill('I am here.');
    await figure(page).locator('.tokens').first().getByText('here').waitFor({ state: 'attached' });
    assert.match(await page.getByTestId('written').textContent(), /\p{Script=Han}/u);
  }));

test('Back zooms out of what was opened, and the arithmetic of a cell lies in the large box', () =>
  withView(site, still, address(), async (page) => {
    await ready(page);
    await at(page, 'dec.2.cross').click();
    await page.getByTestId('head').nth(2).click();
    const canvas = page.locator('[role=application] canvas').last();
    const map = await canvas.boundingBox();
    await canvas.click({ position: { x: map.width / 2, y: map.height - 14 } });
    await scene(page).getByTestId('weight').waitFor();
    for (const wanted of [5, 4, 1]) {
      await page.goBack();
      await page.waitForFunction((count) => document.querySelectorAll('[data-testid=crumbs] li').length === count, wanted);
    }
    await scene(page).waitFor({ state: 'detached' });
    assert.match(page.url(), /#picture\?/);
  }));

test('Linear shows the logits, Softmax their exponentials and probabilities; strips name their rows and heads', () =>
  withView(site, still, address('out.linear', { step: '1' }), async (page) => {
    const logits = async (id) => page.getByTestId(id).locator('td:nth-child(2)').allInnerTexts();
    await scene(page).getByTestId('scores').waitFor();
    assert.equal(await page.getByTestId('logits').count(), 0);
    const linear = await logits('scores');
    await page.evaluate((hash) => (location.hash = hash), address('out.softmax', { step: '1' }));
    await scene(page).getByTestId('logits').waitFor();
    assert.deepEqual(await logits('logits'), linear);
    await page.evaluate((hash) => (location.hash = hash), address('enc.1.self'));
    await settled(page);
    const { source_tokens: tokens, encoder } = native(sentence);
    const strips = scene(page).locator('.strips').nth(1);
    assert.equal(await strips.locator('.names span').count(), tokens.length);
    assert.ok((await strips.locator('.names').innerText()).includes(tokens[0].replace('▁', '')));
    assert.equal(await strips.locator('.heads span').count(), encoder.heads);
    assert.match(await strips.locator('.heads span').last().innerText(), /193–256/);
  }));

test('a first link to the picture shows the figure and the progress of the model at once', () => {
  let release;
  const wait = new Promise((resolve) => (release = resolve));
  return withView(site, still, '#picture', async (page) => {
    await ready(page);
    await page.getByRole('progressbar').waitFor();
    assert.ok((await at(page, 'dec.3.cross').locator('.ground').count()) >= 4, 'the heads of the ready-made translation');
    release();
    await page.getByRole('button', { name: 'Play' }).waitFor();
    await page.waitForFunction(() => document.querySelector('[data-place="enc.embed"] .ground'));
  }, (page) => page.route('**/models/*', (route) => wait.then(() => route.continue())));
});

test('phone: two fingers on the picture enlarge it, one finger moves it, and a box still opens', () =>
  withView(site, { ...phone, reducedMotion: 'reduce' }, address(), async (page) => {
    await ready(page);
    const box = () => at(page, 'dec.1.self').locator('.body').boundingBox();
    await at(page, 'dec.1.self').scrollIntoViewIfNeeded();
    const before = await box();
    const client = await page.context().newCDPSession(page);
    const touch = (type, ...points) => client.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
    const [x, y] = [before.x + before.width / 2, before.y + before.height / 2];
    await touch('touchStart', [4, y], [x, y]); // the first one beside the picture
    await touch('touchMove', [4, y], [x + 40, y]);
    await touch('touchMove', [4, y], [x + 80, y]);
    await touch('touchEnd');
    assert.equal((await box()).width, before.width);
    // On two boxes.
    await touch('touchStart', [x, y - 100], [x, y + 100]);
    await touch('touchMove', [x, y - 150], [x, y + 150]);
    await touch('touchMove', [x, y - 200], [x, y + 200]);
    await touch('touchEnd');
    const larger = await box();
    near(String(larger.width / before.width), 2, 0.1);
    near(String(larger.x + larger.width / 2), x, 6);
    await touch('touchStart', [x, y]);
    await touch('touchMove', [x + 40, y]);
    await touch('touchMove', [x + 80, y]);
    await touch('touchEnd');
    assert.ok((await box()).x > larger.x + 30, 'it was moved');
    await at(page, 'dec.1.self').locator('.name').tap();
    await scene(page).waitFor();
  }));

test('phone, in Chinese: everything fits, and the terms are those of textbooks', () =>
  withView(site, { ...phone, locale: 'zh-CN', reducedMotion: 'reduce' }, address(), async (page) => {
    await ready(page);
    assert.equal(await width(page), phone.viewport.width);
    assert.match(await figure(page).textContent(), /编码器.*掩码多头注意力.*前馈网络/);
    for (const where of ['dec.1.cross', 'dec.1.cross.h2.3-1', 'enc.1.ffn', 'enc.1.selfNorm']) {
      await page.evaluate((hash) => (location.hash = hash), address(where));
      await scene(page).waitFor();
      await settled(page);
      assert.equal(await width(page), phone.viewport.width, where);
      assert.doesNotMatch(await page.locator('main').innerText(), /\b(Layer|Head)\b|undefined|NaN/, where);
    }
    await show(page, 'picture-cell-phone');
  }));
