// The first half of the Train view: pairs, settings, and what they would take.
import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { after, before, test } from 'node:test';
import { laptop, share, show, smallPhone } from './support.mjs';
import { drop, width, withView } from './views.mjs';

let site;
before(async () => (site = await share()));
after(() => site.stop());

const withTrain = (use, { size = laptop, hash = '#train' } = {}) =>
  withView(site, size, hash, async (page) => {
    await page.getByRole('heading', { name: 'Train a model' }).waitFor();
    await use(page);
  });
const lines = Array.from({ length: 40 }, (_, i) => `Satz Nummer ${i}.\tSentence number ${i}.`).join('\n');

async function paste(page, text) {
  await page.getByRole('button', { name: 'Your own pairs' }).click();
  const box = page.getByRole('textbox', { name: 'One pair per line' });
  await box.fill(text);
  await page.getByRole('button', { name: 'Use this text' }).click();
}

const preview = (page) => page.locator('tbody tr').allInnerTexts();
const count = (page, text) => page.locator('caption', { hasText: `${text} pairs` }).waitFor();
const field = (page, name) => page.getByLabel(name, { exact: true });
const begin = (page) => page.getByRole('button', { name: 'Start training' });
const fact = (page, name) => page.locator('dl div', { hasText: name }).locator('dd');

for (const [name, size] of Object.entries({ laptop, 'small-phone': smallPhone })) {
  test(`${name}: pasted pairs are shown, bad rows are counted with their reasons, and the split and filters work`, () =>
    withTrain(async (page) => {
      const odd = ['Nur eins.', 'Nein.\t', 'Satz Nummer 1.\tSentence number 1.', `${'lang '.repeat(120)}\tlong`];
      await paste(page, [lines, ...odd, ''].join('\n'));
      await count(page, 40);
      assert.deepEqual((await preview(page))[0].split('\t'), ['Satz Nummer 0.', 'Sentence number 0.']);
      await page.getByText('Rows skipped: 4').click();
      for (const text of ['1 with a missing column', '1 with an empty side', '1 longer than 500 characters', '1 repeated', 'row 43: Satz Nummer 1.']) {
        await page.getByText(text).waitFor();
      }
      await fact(page, 'Pairs').getByText('38 for training, 2 for validation').waitFor();
      await show(page, `${name}-train-own`);
      assert.equal(await width(page), size.viewport.width);
      if (size !== laptop) return; // the rest has no size
      await field(page, 'Validation pairs').fill('25%');
      await fact(page, 'Pairs').getByText('30 for training, 10 for validation').waitFor();
      await field(page, 'Lowercase everything').check();
      await page.getByRole('cell', { name: 'satz nummer 0.' }).waitFor();
      await field(page, 'Max characters per side').fill('18');
      await count(page, 10);
      assert.ok(!page.url().includes('setup='), 'own pairs are in no link');
    }, { size }));
}

test('own pairs fine-tune the current model: a forecast by their number, no tokenizer setting, and its knowledge kept', () =>
  withTrain(async (page) => {
    await page.getByRole('button', { name: 'Fine-tune German → English on your pairs' }).click();
    const box = page.getByRole('textbox', { name: 'One pair per line' });
    await box.fill(['Guten Morgen.\tTop of the morning.', ...lines.split('\n')].join('\n'));
    await page.getByRole('button', { name: 'Use this text' }).click();
    const forecast = page.getByTestId('forecast');
    await forecast.getByText('41 pairs').waitFor();
    await page.getByText('Tokenizer', { exact: true }).waitFor({ state: 'detached' });
    await page.getByText('scratch', { exact: true }).click();
    await forecast.getByText('41 pairs are too few to learn a language from scratch').waitFor();
    await page.getByRole('radio', { name: 'German → English' }).check({ force: true });
    await field(page, 'Epochs').fill('1');
    await show(page, 'train-tune');
    await begin(page).click();
    const cockpit = page.getByRole('region', { name: /^German → English \+ .*41 pairs$/ });
    await cockpit.getByRole('button', { name: 'Open in Translate' }).first().waitFor();
    await cockpit.getByText('finished', { exact: true }).waitFor();
    assert.match(await cockpit.getByTestId('watched').innerText(), /^(Good|Top of the) morning\.$/, 'it knew German before');
  }));

test('a dropped CSV file goes to Train: quotes, semicolons, UTF-16, a header; its columns can be chosen', () =>
  withTrain(async (page) => {
    const rows = ['id;german;english;note', ...Array.from({ length: 20 }, (_, i) => `${i};"Nun; Satz ""${i}"".";Sentence ${i}.;${i % 2 ? 'old' : 'new'} one`)];
    await drop(page, ['list.csv', Buffer.from(`\ufeff${rows.join('\r\n')}\r\n`, 'utf16le')]);
    await count(page, 20);
    assert.equal(new URL(page.url()).hash.split('?')[0], '#train');
    assert.deepEqual((await preview(page))[3].split('\t'), ['Nun; Satz "3".', 'Sentence 3.']);
    await page.getByLabel('Source', { exact: true }).selectOption('note');
    await page.getByRole('cell', { name: 'old one' }).first().waitFor();
    await page.getByLabel('The first row contains column names').uncheck();
    await count(page, 21);
  }));

test('two picked files are paired line by line', () =>
  withTrain(async (page) => {
    await page.getByRole('button', { name: 'Your own pairs' }).click();
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Choose files' }).press('Enter')]);
    const file = (name, word) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(`\ufeff${Array.from({ length: 12 }, (_, i) => `${word}, ${i}`).join('\r\n')}\r\n`) });
    await chooser.setFiles([file('train.de', 'Wort'), file('train.en', 'Word')]);
    await count(page, 12);
    await page.getByText('train.de, train.en').waitFor();
    assert.deepEqual((await preview(page))[4].split('\t'), ['Wort, 4', 'Word, 4']);
  }));

test('files without pairs are refused in one sentence, and the earlier pairs stay', () =>
  withTrain(async (page) => {
    await paste(page, lines);
    await count(page, 40);
    const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 200, 201]);
    const cases = [
      [[['poem.txt', 'One line, of a poem\nand another\nand, well, one more\n']], 'poem.txt has only one column; pairs need two, separated by a tab, a comma or a semicolon.'],
      [[['one.tsv', 'Hallo\tHello\n']], 'one.tsv has too few pairs (1); at least 2 are needed, one for training and one for validation.'],
      [[['huge.tsv', 'Hallo\tHello\n'.repeat(1000), 4400]], 'huge.tsv is larger than 50 MB, which is too much to train on in a browser.'],
      [[['picture.png', png]], 'picture.png is not UTF-8 or UTF-16 text. If it is a text, save it as UTF-8 (in Excel: “CSV UTF-8”).'],
      [[['bomb.gz', gzipSync(Buffer.alloc(6e7, 'a\tb\n'))]], 'bomb.gz is larger than 50 MB, which is too much to train on in a browser.'],
      [[['a.txt', 'a\nb\nc\n'], ['b.txt', 'a\nb\n']], 'a.txt has 3 lines but b.txt has 2; they must match line by line.'],
      [[['empty.tsv', '']], 'empty.tsv is empty.'],
    ];
    for (const [files, sentence] of cases) {
      await drop(page, ...files);
      await page.getByRole('alert').getByText(sentence, { exact: true }).waitFor();
      assert.equal((await preview(page)).length, 5);
      await count(page, 40);
    }
    await drop(page, ['good.tsv.gz', gzipSync(`${lines}\nmehr\tmore\n`)]);
    await count(page, 41);
    assert.equal(await page.getByRole('alert').count(), 0);
  }));

test('where the script that reads pairs cannot be loaded, the page says so, and later it reads them', async () => {
  const block = async (page) => page.route(/pairs-worker/, (route) => route.abort());
  await withView(site, laptop, '#train', async (page) => {
    await paste(page, lines);
    const sentence = `The pairs could not be read: ${new URL(page.url()).host} could not be fetched`;
    await page.getByRole('alert').getByText(sentence).waitFor();
    await page.unroute(/pairs-worker/);
    await page.getByRole('button', { name: 'Use this text' }).click();
    await count(page, 40);
  }, block);
});

test('Tatoeba pairs come in both directions, with credit', () =>
  withTrain(async (page) => {
    assert.match(await page.locator('main').innerText(), /Sentences by the contributors of tatoeba\.org, .*CC BY 2\.0 FR/);
    await page.getByText('Data, tokenizer and settings').click();
    for (const [name, pattern, pairs] of [
      ['German → English', /^Kein Mensch ist vollkommen\.\tNobody's perfect\.$/, '30,000'],
      ['English → Chinese', /^[\w ,.?']+\t\p{Script=Han}/u, '10,000'],
    ]) {
      await page.getByLabel('Data', { exact: true }).selectOption({ label: name });
      await page.waitForFunction((first) => new RegExp(first, 'u').test(document.querySelector('tbody tr')?.innerText), pattern.source);
      await count(page, pairs);
    }
  }));

test('before the start the page shows the cost, and errors beside the field or from the package', () =>
  withTrain(async (page) => {
    await fact(page, 'Parameters').getByText('235,678').waitFor();
    assert.match(await fact(page, 'Memory').innerText(), /^[\d.]+ MB$/);
    assert.match(await fact(page, 'Training time').innerText(), /^≈ [\d.]+ (seconds?|minutes?)/);
    assert.match(await fact(page, 'Speed').innerText(), /^[\d,]+ target tokens\/s$/);
    assert.ok(await begin(page).isEnabled());
    await page.getByText('Architecture').click();
    await field(page, 'Width').fill('66');
    await page.getByText('The width (66) must be a multiple of this.').waitFor();
    await page.getByRole('alert').getByText('Fix these settings first: Attention heads.').waitFor();
    assert.ok(await begin(page).isDisabled());
    await page.waitForURL(/setup=data%3Areverse%2Cd_model%3A66/); // what a link says is in tests/web/setup.test.mjs
    await field(page, 'Width').fill('2048');
    await field(page, 'Encoder layers').fill('24');
    await page.getByRole('alert').getByText(/^Cannot train with these settings: .* memory.*\.$/).waitFor();
    await paste(page, lines);
    await count(page, 40);
    await page.getByText('epochs', { exact: true }).click();
    await page.getByText('BPE', { exact: true }).click();
    await field(page, 'Vocabulary size').fill('50000');
    await page.getByRole('alert').getByText(/^Cannot train with these settings: vocab_size is 50000.*\.$/).waitFor();
    assert.ok(await begin(page).isEnabled(), 'it may be tried all the same');
  }, { hash: '#train?setup=data:reverse' }));
