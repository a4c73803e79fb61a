// How every place looks: in two sizes and both languages, light and dark, nothing is cut, nothing lies on something else,
// nothing is outside or in the wrong language, and axe finds nothing serious; and a long word makes no view too wide.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { latinWords, looks, names, places, settled, text } from './looks.mjs';
import { accessible, laptop, phone, share } from './support.mjs';
import { width } from './views.mjs';

let site;
before(async () => (site = await share()));
after(() => site.stop());

const sizes = { laptop: { ...laptop, viewport: { width: 1366, height: 900 } }, phone };
const NARROWEST = 360;
async function show(page, address, drawn) {
  await page.evaluate((address) => (location.hash = address), address);
  await page.locator(drawn).first().waitFor();
  await page.waitForFunction(settled);
}

for (const [size, options] of Object.entries(sizes)) for (const locale of ['en-US', 'zh-CN']) {
  test(`${size}, ${locale}: every view looks right`, async () => {
    const { page, errors, close } = await site.open({ ...options, locale, reducedMotion: 'reduce' });
    const foreign = new Set();
    try {
      for (const [address, drawn] of places) {
        await show(page, address, drawn);
        assert.deepEqual(await page.evaluate(looks), [], address);
        if (locale === 'zh-CN' && !/train|classify|models|about/.test(address)) for (const word of await page.evaluate(latinWords)) foreign.add(word);
        // Colours are the same in both languages.
        for (const theme of locale === 'en-US' ? ['light', 'dark'] : ['light']) {
          await page.evaluate((wanted) => {
            const button = [...document.querySelectorAll('header button')].at(-1);
            if (document.documentElement.dataset.theme !== wanted) button.click();
          }, theme);
          await accessible(page, `${address}, ${theme}`);
        }
        if (size === 'phone') {
          await page.setViewportSize({ ...options.viewport, width: NARROWEST });
          assert.equal(await width(page), NARROWEST, address);
          await page.evaluate(() => document.documentElement.toggleAttribute('data-large', true));
          assert.equal(await width(page), NARROWEST, `${address}, in large type`);
          await page.setViewportSize(options.viewport);
        }
      }
      assert.deepEqual([...foreign].filter((word) => !names.has(word)), []);
      assert.deepEqual(errors, [], 'the page logs no error');
    } finally {
      await close();
    }
  });
}

const long = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'; // 80 letters
const longPlaces = [ // those that show a text
  ...places.filter(([address]) => !/#(train|classify|models|about)|text=$/.test(address))
    .map(([address, drawn]) => [address.replace(text, `model=de-en&text=${long}`), drawn]),
  [`#classify?encoder=snips&input=play+the+new+album+by+norah+jones+on+spotify${'a'.repeat(73)}`, '[data-testid=without] > p:last-child:not(.quiet)'],
];

test('a word of 80 letters makes no view of a text wider than a narrow phone', async () => {
  const { page, errors, close } = await site.open({ ...phone, viewport: { ...phone.viewport, width: NARROWEST }, reducedMotion: 'reduce' });
  const widths = {};
  try {
    for (const [address, drawn] of longPlaces) {
      await show(page, address, drawn);
      widths[address] = await width(page);
      await page.evaluate(() => document.documentElement.toggleAttribute('data-large', true));
      widths[`${address}, in large type`] = await width(page);
    }
    assert.deepEqual(Object.entries(widths).filter(([, measured]) => measured !== NARROWEST), []);
    assert.deepEqual(errors, [], 'the page logs no error');
  } finally {
    await close();
  }
});
