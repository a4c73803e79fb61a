// Terms that translations must use, with the models as they are shipped.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Translator } from '../../dist/index.js';

const model = (name) => fileURLToPath(new URL(`../../web/public/models/${name}.safetensors`, import.meta.url));
let german, chinese;
before(async () => {
  german = await Translator.load(model('de-en'));
  chinese = await Translator.load(model('en-zh'));
});
after(() => Promise.all([german.dispose(), chinese.dispose()]));

const count = (text, term) => text.split(new RegExp(`(?<![\\p{L}\\d])${term}(?![\\p{L}\\d])`, 'u')).length - 1;

const searches = { greedy: { beamSize: 1 }, beam: {}, sampling: { sampling: { seed: 3 } } };

for (const [name, search] of Object.entries(searches)) {
  test(`terms stand as often as their sources: ${name}`, async () => {
    const glossary = [
      { source: 'Hund*', target: 'canine' },
      { source: 'Katze', target: 'Felis catus' },
      { source: 'Haus am See', target: 'lakeside cottage' },
      { source: 'See', target: 'pond' },
    ];
    const texts = [
      'Der Hund jagt die Katze, und die Katze jagt den Hund.',
      'Wir kaufen ein Haus am See.',
      'Hunde schwimmen gern im See.',
      'Das Wetter ist heute schön.',
    ];
    const found = await german.translate(texts, { ...search, glossary });
    const counts = found.map(({ text }) => glossary.map(({ target }) => count(text, target)));
    assert.deepEqual(counts, [[2, 2, 0, 0], [0, 0, 1, 0], [1, 0, 0, 1], [0, 0, 0, 0]], found.map(({ text }) => text).join('\n'));
    const plain = await german.translate(texts, search);
    assert.deepEqual(found[3], plain[3]);
  });
}

test('a term stands where its source does, not at the end', async () => {
  const glossary = [{ source: 'Hund', target: 'poodle' }];
  const { text } = await german.translate('Dein Hund ist sehr alt.', { glossary });
  assert.match(text, /^Your poodle/);
});

test('the word that a term stands for is not translated once more', async () => {
  const texts = ['Ich habe einen Hund.', 'Das ist mein Hund.', 'Er hatte einen Hund.', 'Ich habe den Hund gefüttert.', 'Ich mag den Hund.'];
  const found = await german.translate(texts, { glossary: [{ source: 'Hund', target: 'hound' }] });
  for (const { text } of found) assert.ok(/\bhound\b/.test(text) && !/\bdogs?\b/.test(text), text);
});

test('a Chinese term stands within the sentence', async () => {
  const { text } = await chinese.translate('I bought a book yesterday.', { glossary: [{ source: 'book', target: '典籍' }] });
  assert.match(text, /^我昨天.*典籍/u);
});

test('terms stand within markup and in texts of several sentences', async () => {
  const glossary = [{ source: 'Hund', target: 'poodle' }];
  const { text: markup } = await german.translate('<p>Ich habe einen <b>Hund</b>.</p>', { html: true, glossary });
  assert.match(markup, /<b>[^<]*poodle<\/b>/);
  const { text } = await german.translateText('Ich habe einen Hund. Der Hund schläft.', { glossary });
  assert.equal(count(text, 'poodle'), 2);
});

test('names of 200 test sentences stand as a glossary of ten thousand terms says', async () => {
  const file = new URL('../fixtures/tatoeba-en-de-test-200.tsv', import.meta.url);
  const texts = readFileSync(file, 'utf8').trim().split('\n').map((line) => line.split('\t')[1]);
  const fillers = Array.from({ length: 9_999 }, (_, i) => ({ source: `zzterm${i}`, target: `word${i}` }));
  const glossary = [{ source: 'Tom', target: 'Bartholomew' }, ...fillers];
  const found = await german.translate(texts, { beamSize: 2, glossary });
  const wrong = texts.filter((text, i) => count(found[i].text, 'Bartholomew') !== count(text, 'Tom'));
  assert.deepEqual(wrong, []);
});
