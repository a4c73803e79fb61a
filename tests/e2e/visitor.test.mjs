// What greets a visitor: nothing broken, nothing out of sight, nothing lost, and nothing fetched unasked.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chosen, expected, go, laptop, share, translate, translated } from './support.mjs';
import { download, drop, inView, withView } from './views.mjs';

let site;
before(async () => (site = await share()));
after(() => site.stop());

const tiny = readFileSync(fileURLToPath(new URL('../fixtures/tiny-de-en.safetensors', import.meta.url)));
const reverse = (more = '') => `#train?setup=${encodeURIComponent(`data:reverse,pairs:500,steps:400,batch_tokens:256${more}`)}`;
const card = (page, name) => page.getByRole('button', { name });
const alerts = (page) => page.locator('.problem, [role=alert]').allInnerTexts();

/** Whether the middle of an element is inside the window. */
const inSight = (locator) =>
  locator.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return (top + bottom) / 2 > 0 && (top + bottom) / 2 < innerHeight;
  });

async function eventually(holds, what) {
  const end = Date.now() + 60_000;
  while (!(await holds())) {
    if (Date.now() > end) assert.fail(what);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

test('"Your own pairs" starts with a form, not an error', () =>
  withView(site, laptop, '#train', async (page) => {
    await card(page, 'Your own pairs').click();
    await page.getByText('Add sentence pairs first.').waitFor();
    await page.waitForTimeout(500);
    assert.deepEqual(await alerts(page), []);
  }));

test('a browser without a language opens Train in English', async () => {
  const prepare = (page) => page.addInitScript(() => Object.defineProperty(Navigator.prototype, 'language', { get: () => 'C' }));
  await withView(site, laptop, '#train', async (page) => {
    await card(page, /^Reverse/).waitFor();
    assert.deepEqual(await alerts(page), []);
  }, prepare);
});

test("the page's description is in the visitor's language and changes with it", () =>
  withView(site, { ...laptop, locale: 'zh-CN' }, '', async (page) => {
    const said = () => page.locator('meta[name=description]').getAttribute('content');
    await page.getByRole('button', { name: 'English' }).waitFor();
    assert.match(await said(), /浏览器.*注意力/);
    await page.getByRole('button', { name: 'English' }).click();
    const english = await said();
    assert.match(english, /your browser.*attention/);
    const manifest = JSON.parse(readFileSync(new URL('../../web/public/manifest.webmanifest', import.meta.url), 'utf8'));
    assert.equal(manifest.description, english);
    assert.match(await (await page.request.get(site.address)).text(), /<noscript>[^<]*JavaScript[^<]*<span lang="zh-Hans">.*浏览器/);
  }));

test('each view has a description of its own; printed, the figure stays and the controls go, on white', () =>
  withView(site, { ...laptop, colorScheme: 'dark', reducedMotion: 'reduce' }, '#picture', async (page) => {
    await page.getByRole('button', { name: 'Play' }).waitFor();
    const said = () => page.locator('meta[name=description]').getAttribute('content');
    const picture = await said();
    await page.emulateMedia({ media: 'print' });
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    assert.equal(await page.getByTestId('figure').isVisible(), true);
    assert.equal(await page.getByRole('button', { name: 'Play' }).isVisible(), false);
    assert.equal(await page.getByRole('navigation', { name: 'Views' }).isVisible(), false);
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'light');
    await page.evaluate(() => dispatchEvent(new Event('afterprint')));
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    await page.emulateMedia({ media: 'screen' });
    await page.evaluate(() => (location.hash = '#models'));
    await page.waitForFunction((before) => document.querySelector('meta[name=description]').content !== before, picture);
    assert.match(await said(), /models/);
  }));

test('pressing a card brings the learning sentence and its controls into view', () =>
  withView(site, laptop, '#train', async (page) => {
    await card(page, /^Reverse/).click();
    await page.getByTestId('watched').waitFor();
    await eventually(() => inSight(page.getByTestId('watched')), 'the watched sentence is out of sight');
    assert.ok(await inSight(page.getByRole('button', { name: 'Pause' })));
    assert.ok(await inSight(page.locator('.u-legend').first()), 'the loss is beside it');
  }));

test('a run shows in every view and in the title; after a reload it is listed first, with its step, and resumes', () =>
  withView(site, laptop, reverse(), async (page) => {
    await page.getByRole('button', { name: 'Start training' }).click();
    await page.getByText(/^saved at step/).waitFor();
    await page.waitForFunction(() => /^\d+% Reverse · Train/.test(document.title));
    await go(page, 'Models');
    await page.getByRole('banner').getByRole('link', { name: /^Reverse \d+%/ }).waitFor();
    await page.waitForFunction(() => /^\d+% Reverse · Models/.test(document.title));
    await go(page, 'Translate');
    await page.reload();
    await page.getByRole('banner').getByRole('link', { name: 'Saved run: Reverse' }).click();
    const kept = page.locator('.cockpit').getByRole('status').getByText(/^Kept at step \d+/);
    await kept.waitFor();
    assert.ok(await inSight(kept));
    await page.goto(site.address + reverse());
    await page.reload();
    await kept.waitFor();
    assert.equal(await page.getByRole('button', { name: 'Start training' }).count(), 0, 'the settings stay folded');
    await page.locator('.cockpit').getByRole('button', { name: 'Resume' }).click();
    await page.locator('.runs').getByText('running', { exact: true }).waitFor();
    await eventually(() => inSight(page.getByRole('button', { name: 'Pause' })), 'the resumed run is out of sight');
  }));

for (const view of ['picture', 'beam', 'intervene', 'code']) {
  test(`${view}: without a sentence, a field with a border asks for one`, () =>
    inView(site, laptop, `#${view}?text=`, async (page) => {
      await page.getByText('Type a sentence above to look inside its translation.').waitFor();
      const field = page.getByPlaceholder('Type a sentence in German');
      const style = await field.evaluate((element) => getComputedStyle(element).borderStyle);
      assert.equal(style, 'solid');
      await page.getByRole('combobox', { name: 'Model' }).waitFor({ state: 'detached' });
      await field.fill('Guten Morgen.');
      await page.getByText('Type a sentence above').waitFor({ state: 'detached' });
      await page.getByTestId(view === 'beam' ? 'scene' : 'figure').waitFor();
      await field.fill('');
      await page.getByText('Type a sentence above to look inside its translation.').waitFor();
    }));
}

for (const locale of ['en-US', 'zh-CN']) test(`${locale}: the ready-made example is not translated again`, async () => {
  const { page, errors, close } = await site.open({ ...laptop, locale }, (page) =>
    page.addInitScript(() => {
      window.busy = 0;
      new MutationObserver(() => (window.busy += document.querySelectorAll('.target [aria-busy=true]').length)).observe(document, {
        subtree: true, childList: true, attributes: true,
      });
    }),
  );
  await translated(page);
  await page.waitForTimeout(1000);
  assert.equal(await page.evaluate(() => window.busy), 0);
  await page.locator('.target [data-token="1"]').click();
  await page.getByRole('dialog').getByRole('button').nth(4).waitFor(); // its candidates came with it
  assert.deepEqual(errors, []);
  await close();
});

test('a malformed or broken model link falls back to the bundled model with a one-sentence message', async () => {
  for (const path of ['100%25.safetensors', 'models/missing.safetensors']) {
    const { page } = await site.visit(laptop, `#translate?model=${encodeURIComponent(`http://localhost:PORT/${path}`).replace('PORT', new URL(site.address).port)}`);
    await translated(page);
    const [text] = await page.getByRole('alert').allInnerTexts();
    assert.match(text, /^The linked model could not be loaded: .*404.*\. The bundled model is used instead\./);
    assert.equal(await translate(page, expected[0].source), expected[0].translation);
  }
});

test('a model on another host is fetched only if the visitor agrees; one without TLS is refused with a message', () => {
  const asked = [];
  const address = 'https://models.example/100%.safetensors';
  return withView(
    site,
    laptop,
    `#translate?model=${encodeURIComponent(address)}`,
    async (page) => {
      await translated(page);
      await page.getByText('This link wants to download a model from models.example.').waitFor();
      assert.equal(await translate(page, expected[0].source), expected[0].translation);
      assert.deepEqual(asked, []);
      await page.getByRole('button', { name: 'Download' }).click();
      await chosen(page, address);
      assert.ok(asked.length > 0);
      await go(page, 'Models');
      await page.getByRole('textbox', { name: 'URL of a model' }).fill('http://models.example/x.safetensors');
      await page.getByRole('textbox', { name: 'URL of a model' }).press('Enter');
      await page.getByRole('alert').getByText('A model’s address must begin with https://.').waitFor();
    },
    (page) => page.route('https://models.example/**', (route) => {
      asked.push(route.request().url());
      return route.fulfill({ body: tiny, headers: { 'Access-Control-Allow-Origin': '*' } });
    }),
  );
});

test('the address of a Hugging Face page leads to its files', async () => {
  const asked = [];
  const { page } = await site.visit(laptop, '#models');
  await page.route('https://huggingface.co/**', (route) => {
    asked.push(new URL(route.request().url()).pathname);
    return route.fulfill({ status: 404, headers: { 'Access-Control-Allow-Origin': '*' } });
  });
  await page.getByText('in use', { exact: true }).waitFor();
  await page.getByRole('textbox', { name: 'URL of a model' }).fill('https://huggingface.co/Helsinki-NLP/opus-mt-de-en');
  await page.getByRole('textbox', { name: 'URL of a model' }).press('Enter');
  await page.getByRole('alert').waitFor();
  assert.ok(asked.length > 0 && asked.every((path) => path.startsWith('/Helsinki-NLP/opus-mt-de-en/resolve/main/')), `${asked}`);
});

test('two files with the same name are both kept', () =>
  withView(site, laptop, '#models', async (page) => {
    await page.getByText('in use', { exact: true }).waitFor();
    const names = (all) => page.waitForFunction((all) => {
      const names = [...document.querySelectorAll('main li .name')].map((name) => name.textContent);
      return all.every((name) => names.includes(name));
    }, all);
    const another = Buffer.from(tiny);
    another[another.length - 1] ^= 1;
    await drop(page, ['best.safetensors', tiny]);
    await names(['best']);
    await drop(page, ['best.safetensors', another]);
    await names(['best', 'best (2)']);
    await drop(page, ['best.safetensors', tiny]); // the first once more
    await chosen(page, 'file:best.safetensors');
    assert.equal(await page.locator('main li .name').count(), 7);
  }));

test('a saved run dropped anywhere opens as a run', () =>
  withView(site, laptop, reverse(',steps:60'), async (page) => {
    await page.getByRole('button', { name: 'Start training' }).click();
    await page.locator('.runs').getByText('finished', { exact: true }).waitFor();
    const { name, bytes } = await download(page, () => page.getByRole('button', { name: 'Download the run' }).click());
    await go(page, 'Models');
    await page.getByText('in use', { exact: true }).waitFor();
    await drop(page, [name, bytes]);
    await page.waitForFunction(() => document.querySelectorAll('.runs > table tbody tr').length === 2);
    assert.match(page.url(), /#train/);
  }));
