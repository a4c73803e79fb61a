// How every place looks: in two sizes and both languages, light and dark, nothing is cut, nothing lies on something else,
// nothing is outside or in the wrong language, and axe finds nothing serious.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { latinWords, looks, names } from './looks.mjs';
import { accessible, laptop, phone, start } from './support.mjs';
import { width } from './views.mjs';

let site;
before(async () => (site = await start()));
after(() => site.stop());

const sizes = { laptop: { ...laptop, viewport: { width: 1366, height: 900 } }, phone };
const NARROWEST = 360;
const text = 'model=en-zh&text=We+do+it.'; // no word of four letters
/** Each place's address, and what only it shows. */
const places = [
  [`#translate?${text}`, '.target [role=group][aria-busy=false]'],
  [`#picture?${text}`, '[data-testid=figure] [data-place="dec.3.cross"]'],
  [`#picture?${text}&at=enc`, '.more h3'],
  [`#picture?${text}&at=enc.embed`, '.scene .tokens button'],
  [`#picture?${text}&at=dec.1.self`, '[data-testid=head]'],
  [`#picture?${text}&at=dec.2.cross.h3.2-2`, '[data-testid=arithmetic] td'],
  [`#picture?${text}&at=enc.1.ffn`, '[data-testid=zeros]'],
  [`#picture?${text}&at=enc.1.selfNorm`, '[data-testid=moments] td'],
  [`#picture?${text}&at=out.softmax`, '[data-testid=logits] td'],
  [`#picture?${text}&large=1`, '[data-large] [data-testid=figure]'],
  [`#beam?${text}`, '[role=treeitem] >> nth=8'],
  [`#intervene?${text}&heads=cross:2:1`, '[data-testid=after]'],
  [`#train?${text}`, '.sheet .example'],
  [`#classify?${text}`, '[data-testid=attended] .piece'],
  [`#models?${text}`, 'main li .name'],
  [`#about?${text}`, 'main dl'],
  ['#translate?text=', '.target .hint'],
];

for (const [size, options] of Object.entries(sizes)) for (const locale of ['en-US', 'zh-CN']) {
  test(`${size}, ${locale}: every view looks right`, async () => {
    const { page, errors, close } = await site.open({ ...options, locale, reducedMotion: 'reduce' });
    const foreign = new Set();
    try {
      for (const [address, drawn] of places) {
        await page.goto('about:blank');
        await page.goto(site.address + address);
        await page.locator(drawn).first().waitFor();
        await page.waitForFunction(() => document.querySelectorAll('.scene').length < 2
          && (!document.querySelector('.stale') || document.querySelector('#source')?.value === ''));
        assert.deepEqual(await page.evaluate(looks), [], address);
        if (locale === 'zh-CN' && !/train|classify|models|about/.test(address)) for (const word of await page.evaluate(latinWords)) foreign.add(word);
        // Colours are the same in both languages.
        const themes = [['light', {}], ...(locale === 'en-US' ? [['dark', { runOnly: ['color-contrast'] }]] : [])];
        for (const [theme, rules] of themes) {
          await page.evaluate((wanted) => {
            const button = [...document.querySelectorAll('header button')].at(-1);
            if (document.documentElement.dataset.theme !== wanted) button.click();
          }, theme);
          await accessible(page, `${address}, ${theme}`, rules);
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
const longPlaces = [
  ...places.slice(0, 12).map(([address, drawn]) => [address.replace(text, `model=de-en&text=${long}`), drawn]),
  [`#classify?encoder=snips&input=play+the+new+album+by+norah+jones+on+spotify${'a'.repeat(72)}`, '[data-testid=without] > p:last-child:not(.quiet)'],
];

test('a word of 80 letters makes no view wider than a narrow phone', async () => {
  const { page, close } = await site.open({ ...phone, viewport: { ...phone.viewport, width: NARROWEST }, reducedMotion: 'reduce' });
  const widths = {};
  try {
    for (const [address, drawn] of longPlaces) {
      await page.goto('about:blank');
      await page.goto(site.address + address);
      await page.locator(drawn).first().waitFor();
      await page.waitForFunction(() => !document.querySelector('.stale'));
      widths[address] = await width(page);
      await page.evaluate(() => document.documentElement.toggleAttribute('data-large', true));
      widths[`${address}, in large type`] = await width(page);
    }
    assert.deepEqual(Object.entries(widths).filter(([, width]) => width !== NARROWEST), []);
  } finally {
    await close();
  }
});
