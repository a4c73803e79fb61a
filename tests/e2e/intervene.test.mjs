// Words that are hidden on the picture, heads that are switched off there, and sampling: the result is the native program's.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { expected, laptop, phone, share, show } from './support.mjs';
import { inView, native, width, withView } from './views.mjs';

let site;
const sentence = expected[1].source;
const address = (more = {}) => `#intervene?${new URLSearchParams({ text: sentence, ...more })}`;
before(async () => (site = await share()));
after(() => site.stop());

// The text is complete, and no longer marked as that of the options before.
const result = (page, text) =>
  page.waitForFunction((wanted) => document.querySelector('[data-testid=after]')?.innerText === wanted && !document.querySelector('.stale'), text);

const token = (page, name) => page.getByTestId('figure').getByRole('button', { name: `Hide “${name}”` });
const head = (page, name) => page.getByRole('switch', { name });

test('picture: a hidden word and disabled heads change it, are in the address, and can be undone', () =>
  inView(site, laptop, address(), async (page) => {
    await token(page, 'alten').click();
    await result(page, native(sentence, '--mask-source', '4').text);
    assert.ok((await page.locator('ins, del').count()) > 0, 'what changed is marked');
    const written = () => page.getByTestId('written').locator('text').allTextContents();
    assert.ok(!(await written()).includes('old'), 'the decoder of the picture writes the new translation');
    const off = ['cross:2:0', 'cross:2:2', 'encoder:0:3'];
    for (const name of ['Decoder · Layer 3 · Cross-attention · Head 1', 'Decoder · Layer 3 · Cross-attention · Head 3', 'Encoder · Layer 1 · Multi-head attention · Head 4']) {
      await head(page, name).click();
    }
    await result(page, native(sentence, '--mask-source', '4', '--mask-heads', off.join()).text);
    await token(page, 'alten').click();
    await result(page, native(sentence, '--mask-heads', off.join()).text);
    assert.equal(await page.getByRole('switch', { checked: false }).count(), 3);
    await page.waitForFunction(() => /heads=cross%3A2%3A0%2Ccross%3A2%3A2%2Cencoder%3A0%3A3/.test(location.hash));
    await show(page, 'intervene-laptop');
    await page.getByRole('button', { name: 'Undo all changes' }).click();
    await page.getByTestId('after').waitFor({ state: 'detached' });
    await page.waitForFunction(() => !/mask|heads/.test(location.hash));
    assert.equal(await page.getByRole('switch', { checked: false }).count(), 0);
  }));

test('heads are switched inside an attention, words are hidden in the embedding, and the beam search follows', () =>
  inView(site, laptop, `#picture?${new URLSearchParams({ text: sentence, at: 'dec.3.cross' })}`, async (page) => {
    await head(page, 'Decoder · Layer 3 · Cross-attention · Head 2').click();
    await result(page, native(sentence, '--mask-heads', 'cross:2:1').text);
    await page.waitForURL(/heads=cross/); // which is written after a pause
    await page.evaluate(() => (location.hash = location.hash.replace('dec.3.cross', 'enc.embed')));
    await page.getByTestId('scene').getByRole('button', { name: /^Hide “alten \d+”$/ }).click();
    const { text } = native(sentence, '--mask-source', '4', '--mask-heads', 'cross:2:1');
    await result(page, text);
    await page.getByRole('tab', { name: 'Beams' }).click();
    await page.locator('tbody tr').first().getByRole('button', { name: text, exact: true }).waitFor();
    // Another sentence has other words, and the same heads.
    await page.getByRole('textbox', { name: 'German' }).fill('Guten Morgen.');
    await page.waitForFunction(() => !location.hash.includes('mask') && location.hash.includes('heads'));
  }));

test('by keyboard: words, heads and sampling', () =>
  inView(site, laptop, address(), async (page) => {
    await page.locator('[data-place="enc.embed"]').focus();
    await page.keyboard.press('ArrowDown');
    const focused = () => page.evaluate(() => document.activeElement.dataset.place);
    assert.match(await focused(), /^token\.\d+$/);
    await page.keyboard.press('ArrowRight');
    const place = (await focused()).split('.')[1];
    await page.keyboard.press('Space');
    await result(page, native(sentence, '--mask-source', place).text);
    await page.keyboard.press('Space');
    await page.locator('[data-place="dec.2.cross"]').focus();
    await page.keyboard.press('ArrowRight');
    assert.match(await focused(), /^dec\.2\.cross\.h\d$/);
    const number = Number((await focused()).at(-1)) - 1;
    await page.keyboard.press('Enter');
    await result(page, native(sentence, '--mask-heads', `cross:1:${number}`).text);
    await page.keyboard.press('Enter');
    await page.locator('summary').press('Enter');
    await page.getByRole('radio', { name: 'Beam search' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('slider', { name: 'Temperature' }).focus();
    await page.keyboard.press('Home');
    await page.getByTestId('after').waitFor();
    const coldest = await page.getByTestId('after').innerText();
    await page.keyboard.press('End');
    await page.getByRole('button', { name: 'Sample again' }).press('Enter');
    await page.waitForFunction((cold) => document.querySelector('[data-testid=after]')?.innerText !== cold, coldest);
  }));

test('a link restores the changes; on a phone everything fits', () =>
  withView(site, phone, address({ mask: '2', heads: 'cross:2:3' }), async (page) => {
    await result(page, native(sentence, '--mask-source', '2', '--mask-heads', 'cross:2:3').text);
    assert.equal(await page.getByRole('button', { pressed: true }).count(), 1);
    assert.equal(await width(page), phone.viewport.width);
    await show(page, 'intervene-phone');
  }));
