// The attention view: the numbers are the model's, and every part works by mouse and by keyboard.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { expected, laptop, phone, share, show, smallPhone, translate, translated } from './support.mjs';
import { download, inView, native, width, withView } from './views.mjs';

let site;
before(async () => (site = await share()));
after(() => site.stop());

const map = (page) => page.locator('[role=application]');
const pixels = (page) => map(page).locator('canvas').first().evaluate((canvas) => canvas.toDataURL());
const readout = (page) => page.getByTestId('readout').innerText();
const choose = (page, name) => page.getByText(name, { exact: true }).click();
const head = (page, layer, head) => page.getByRole('radio', { name: `Layer ${layer}, head ${head}`, exact: true });
test('every number matches `wasmformer translate --attention`, and every row sums to 1', () =>
  inView(site, laptop, '', async (page) => {
    await translated(page);
    // Of a sentence in which page and program round all int8 inputs alike.
    const { source } = expected[3];
    await translate(page, source);
    const { name, bytes } = await download(page, () => page.getByRole('button', { name: 'JSON' }).click());
    assert.equal(name, 'attention.json');
    const [shown] = JSON.parse(bytes);
    const wanted = native(source);
    assert.deepEqual(shown.source_tokens, wanted.source_tokens);
    assert.equal(shown.text, wanted.text);
    for (const kind of ['encoder', 'decoder', 'cross']) {
      const { data, layers, heads, rows, columns } = shown[kind];
      assert.equal(data.length, layers * heads * rows * columns);
      assert.equal(data.length, wanted[kind].data.length);
      const off = Math.max(...data.map((weight, i) => Math.abs(weight - wanted[kind].data[i])));
      assert.ok(off < 1e-3, `${kind}: off by ${off}`);
      for (let row = 0; row < data.length; row += columns) {
        const sum = data.slice(row, row + columns).reduce((a, b) => a + b);
        assert.ok(Math.abs(sum - 1) < 1e-4, `${kind}: a row sums to ${sum}`);
      }
    }
    // What is drawn are these numbers: the SVG has one cell for each, in the colour of its weight.
    await head(page, 2, 3).click();
    const svg = String((await download(page, () => page.getByRole('button', { name: 'SVG' }).click())).bytes);
    const fills = [...svg.matchAll(/<rect x[^>]* fill="(rgb[^"]*)"/g)].map(([, fill]) => fill);
    const { rows, columns, heads, data } = wanted.cross;
    assert.equal(fills.length, rows * columns);
    const ramp = await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--ramp').split(','));
    const red = (weight) => {
      const at = Math.min(3.999, weight * 4);
      const [low, high] = [0, 1].map((i) => parseInt(ramp[Math.floor(at) + i].trim().slice(1, 3), 16));
      return low + (high - low) * (at - Math.floor(at));
    };
    fills.forEach((fill, i) => {
      const weight = data[(1 * heads + 2) * rows * columns + i];
      assert.ok(Math.abs(Number(fill.match(/\d+/)[0]) - red(weight)) <= 1.5, `cell ${i}, ${weight}: ${fill}`);
    });
    const png = await download(page, () => page.getByRole('button', { name: 'PNG' }).click());
    assert.equal(png.name, 'attention-cross-2-3.png');
    assert.equal(png.bytes.subarray(1, 4).toString(), 'PNG');
  }));

test('encoder, decoder and cross; heat map and lines; by mouse', () =>
  inView(site, laptop, '', async (page) => {
    await translated(page);
    const size = async () => [await map(page).getAttribute('data-rows'), await map(page).getAttribute('data-columns')].map(Number);
    const [target, source] = await size();
    const seen = new Set([await pixels(page)]);
    for (const [kind, rows, columns] of [['Encoder', source, source], ['Decoder', target, target], ['Cross', target, source]]) {
      await choose(page, kind);
      assert.deepEqual(await size(), [rows, columns]);
      await head(page, 1, 2).click();
      assert.ok(await head(page, 1, 2).isChecked());
      for (const form of ['Lines', 'Heat map']) {
        await choose(page, form);
        const picture = await pixels(page);
        assert.ok(!seen.has(picture), `${kind}, ${form} is a picture of its own`);
        const hasHatching = /hatched/.test(await page.locator('.aside').innerText());
        assert.equal(hasHatching, kind === 'Decoder' && form === 'Heat map', 'the words are about what is drawn');
        seen.add(picture);
      }
      await map(page).hover({ position: { x: 20, y: (await map(page).boundingBox()).height - 12 } });
      assert.match(await readout(page), /attends most to “.+” \(\d+%\); entropy \d\.\d of at most \d\.\d bits/);
    }
    await map(page).locator('canvas').last().hover({ position: { x: 120, y: 150 } });
    assert.match(await readout(page), /“.+” attends [\d.]+% to “.+”/);
    await choose(page, 'Lines');
    await show(page, 'attention-lines-laptop');
  }));

/** The lines of a drawing: the color of each. */
const strokes = async (page) => {
  const { name, bytes } = await download(page, () => page.getByRole('button', { name: 'SVG' }).click());
  return { name, colours: [...String(bytes).matchAll(/ fill="none" stroke="([^"]+)"/g)].map(([, colour]) => colour) };
};

test("a layer's heads are drawn as lines, each in its color, above a threshold; by mouse, keyboard and link", () =>
  inView(site, laptop, '', async (page) => {
    await translated(page);
    const one = page.getByRole('checkbox', { name: 'Head 1' });
    assert.equal(await one.count(), 0, 'a heat map has no use for them');
    await choose(page, 'Lines');
    assert.equal(new Set((await strokes(page)).colours).size, 1, 'at first their mean is drawn');
    await one.focus();
    await page.keyboard.press('Space');
    await page.getByRole('checkbox', { name: 'Head 3' }).check();
    const two = await strokes(page);
    assert.equal(two.name, 'attention-cross-3-1+3.svg');
    const [first, third] = await page.evaluate(() =>
      [1, 3].map((head) => getComputedStyle(document.documentElement).getPropertyValue(`--head-${head}`).trim()));
    assert.deepEqual(new Set(two.colours), new Set([first, third]));
    const threshold = page.getByRole('slider', { name: 'Hide links below' });
    await threshold.focus();
    for (let press = 0; press < 8; press++) await page.keyboard.press('ArrowRight');
    await page.getByText('Layer 3, 2 heads in color', { exact: true }).waitFor();
    await page.locator('output').getByText('10%').waitFor();
    const strong = await strokes(page);
    assert.ok(strong.colours.length > 0 && strong.colours.length < two.colours.length, `${two.colours.length}, ${strong.colours.length}`);
    await page.waitForFunction(() => /colors=1\.3/.test(location.hash) && /least=10/.test(location.hash));
    await page.reload();
    await translated(page);
    assert.deepEqual((await strokes(page)).colours, strong.colours, 'the link draws the same');
    await page.getByRole('button', { name: 'All', exact: true }).click();
    assert.equal(new Set((await strokes(page)).colours).size, 4);
    await show(page, 'attention-heads-laptop');
    await head(page, 2, 4).click();
    assert.equal(new Set((await strokes(page)).colours).size, 1, 'one head alone is drawn as before');
    assert.ok(!(await one.isChecked()));
    await head(page, 2, 4).press('ArrowRight');
    assert.ok(await one.isChecked(), 'the mean of another layer has the colors again');
    await page.getByRole('button', { name: 'None', exact: true }).click();
    assert.equal(await page.getByRole('checkbox', { checked: true }).count(), 0);
  }));

test('the best aligned head is found by hiding pieces', () =>
  inView(site, laptop, '', async (page) => {
    await translated(page);
    await page.getByRole('button', { name: 'Which head aligns best?' }).press('Enter');
    const best = page.getByRole('button', { name: /^Best alignment: layer \d, head \d$/ });
    await best.click();
    const [layer, number] = (await best.innerText()).match(/\d/g);
    assert.ok(await head(page, layer, number).isChecked());
    assert.match(await page.locator('.aside').innerText(), /On average this head puts \d+% of its attention/);
    await translate(page, expected[0].source);
    await page.getByRole('button', { name: 'Which head aligns best?' }).waitFor(); // it was another sentence's
  }));

test('by keyboard: kinds, forms, heads and cells', () =>
  inView(site, laptop, '', async (page) => {
    await translated(page);
    await page.getByRole('radio', { name: 'Cross' }).focus();
    await page.keyboard.press('ArrowLeft');
    assert.ok(await page.getByRole('radio', { name: 'Decoder' }).isChecked());
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowRight');
    assert.ok(await page.getByRole('radio', { name: 'Lines' }).isChecked());
    for (let stop = 0; stop < 6; stop++) await page.keyboard.press('Tab'); // four heads, all of them, the threshold
    assert.ok(await page.getByRole('slider', { name: 'Hide links below' }).evaluate((slider) => slider === document.activeElement));
    await page.keyboard.press('Tab');
    assert.match(await readout(page), /“.+” attends [\d.]+% to “.+”/, 'the first row’s strongest link');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Escape');
    assert.equal(await readout(page), 'Point at a word or a cell.');
    await page.getByRole('radio', { name: /Layer 3, mean/ }).focus();
    await page.keyboard.press('ArrowRight');
    assert.ok(await head(page, 3, 1).isChecked());
    await page.keyboard.press('ArrowDown');
    assert.ok(await head(page, 1, 1).isChecked(), 'the grid’s edges are joined');
  }));

for (const [name, size] of Object.entries({ phone, 'small-phone': smallPhone })) {
  test(`${name}: a short sentence fits, heat map and lines`, () =>
    withView(site, size, '', async (page) => {
      await translated(page);
      for (const form of ['Lines', 'Heat map']) {
        await choose(page, form);
        assert.equal(await width(page), size.viewport.width);
        assert.ok(await page.locator('.room').evaluate((room) => room.scrollWidth <= room.clientWidth), form);
        await map(page).locator('canvas').last().tap({ position: { x: 75, y: 110 } });
        assert.notEqual(await readout(page), 'Point at a word or a cell.');
      }
    }));
}

test('a hundred pieces or more fit, and can be read by pointing', () =>
  inView(site, laptop, '', async (page) => {
    await translated(page);
    await translate(page, Array.from({ length: 12 }, () => 'Tom wollte nicht, dass Maria ihm hilft,').join(' '));
    await choose(page, 'Encoder');
    assert.ok(Number(await map(page).getAttribute('data-columns')) >= 100);
    assert.ok(await page.locator('.room').evaluate((room) => room.scrollWidth <= room.clientWidth));
    await map(page).focus();
    await page.keyboard.press('ArrowDown');
    assert.match(await readout(page), /“wollte” attends [\d.]+% to “.+”/);
    const { bytes } = await download(page, () => page.getByRole('button', { name: 'JSON' }).click());
    assert.ok(JSON.parse(bytes)[0].encoder.columns >= 100);
  }));
