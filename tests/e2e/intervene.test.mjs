// Hidden pieces, heads that are off, and sampling: the result is the native program's.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { expected, laptop, phone, show, start } from './support.mjs';
import { load, native, width, withView } from './views.mjs';

let site, pure;
const sentence = expected[1].source;
const address = (more = {}) => `#intervene?${new URLSearchParams({ text: sentence, ...more })}`;
before(async () => {
  site = await start();
  pure = await load('text/difference.ts');
});
after(() => site.stop());

// The text is complete, and no longer marked as that of the options before.
const result = (page, text) =>
  page.waitForFunction((wanted) => document.querySelector('[data-testid=after]')?.innerText === wanted && !document.querySelector('.stale'), text);

test('what changed is marked word by word', () => {
  const { compare } = pure;
  const { before, after } = compare('I met an old friend.', 'I saw an old friend today.', 'en');
  assert.deepEqual(before.filter(({ changed }) => changed).map(({ text }) => text), ['met']);
  assert.deepEqual(after.filter(({ changed }) => changed).map(({ text }) => text), ['saw', ' today']);
  assert.equal(before.map(({ text }) => text).join(''), 'I met an old friend.');
  assert.deepEqual(compare('', 'a', 'en'), { before: [], after: [{ text: 'a', changed: true }] });
  assert.equal(compare('我昨天看书', '我今天看书', 'zh').after.filter(({ changed }) => changed)[0].text, '今天');
});

test('a hidden piece and heads that are off, by mouse', () =>
  withView(site, laptop, address(), async (page) => {
    await page.getByRole('button', { name: 'alten' }).click();
    const masked = native(sentence, '--mask-source', '4');
    await result(page, masked.text);
    assert.ok((await page.locator('ins, del').count()) > 0, 'what changed is marked');
    const off = ['cross:2:0', 'cross:2:1', 'encoder:0:3'];
    for (const name of ['Layer 3, head 1', 'Layer 3, head 2']) await page.getByRole('switch', { name }).click();
    await page.getByText('Encoder', { exact: true }).click();
    await page.getByRole('switch', { name: 'Layer 1, head 4' }).click();
    await result(page, native(sentence, '--mask-source', '4', '--mask-heads', off.join()).text);
    await page.getByRole('button', { name: 'alten' }).click();
    await result(page, native(sentence, '--mask-heads', off.join()).text);
    assert.equal(await page.getByRole('switch', { checked: false }).count(), 1, 'of the encoder');
    assert.match(page.url(), /heads=cross%3A2%3A0%2Ccross%3A2%3A1%2Cencoder%3A0%3A3/);
    await show(page, 'intervene-laptop');
    await page.getByRole('button', { name: 'Reset all changes' }).click();
    assert.equal(await page.getByTestId('after').count(), 0);
  }));

test('by keyboard: pieces, heads and sampling', () =>
  withView(site, laptop, address(), async (page) => {
    await page.getByRole('button', { name: 'Ich' }).focus();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Space');
    const place = native(sentence).source_tokens.length - 3;
    await result(page, native(sentence, '--mask-source', String(place)).text);
    await page.keyboard.press('Space');
    await page.getByRole('switch', { name: 'Layer 1, head 1' }).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await result(page, native(sentence, '--mask-heads', 'cross:1:1').text);
    await page.keyboard.press('Enter');
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

test('a link restores the changes; on a phone all fits', () =>
  withView(site, phone, address({ mask: '2', heads: 'cross:2:3' }), async (page) => {
    await result(page, native(sentence, '--mask-source', '2', '--mask-heads', 'cross:2:3').text);
    assert.equal(await page.getByRole('button', { pressed: true }).count(), 1);
    assert.equal(await width(page), phone.viewport.width);
    await show(page, 'intervene-phone');
  }));
