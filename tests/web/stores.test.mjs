// The page's stores, each made with stand-ins for the others, and the decisions of its views.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './load.mjs';

const text = 'play jazz now';
const words = [{ start: 0, end: 4 }, { start: 5, end: 9 }, { start: 10, end: 13 }];

test('words are left out one by one, then together, until the text has another label', async () => {
  const { occlude } = await load('classify/occlusion.ts');
  const asked = [];
  const classify = async (texts) => texts.map((one) => {
    asked.push(one);
    const probability = 0.2 + (one.includes('play') ? 0.5 : 0) + (one.includes('jazz') ? 0.2 : 0);
    const labels = [{ label: 'Music', probability }, { label: 'Weather', probability: 1 - probability }];
    return labels.toSorted((a, b) => b.probability - a.probability);
  });
  const { drops, turn } = await occlude(text, words, { label: 'Music', probability: 0.9 }, classify);
  assert.deepEqual(asked, [' jazz now', 'play  now', 'play jazz ']);
  assert.deepEqual(drops.map((drop) => Math.round(10 * drop)), [5, 2, 0]);
  assert.deepEqual(turn, { words: ['play'], label: 'Weather' });
});

test('a dropped file goes to the view, the runs or the models', async () => {
  const { destinationOf } = await load('models/folders.ts');
  const files = (...names) => names.map((name) => ({ name }));
  assert.equal(destinationOf(files('pairs.tsv'), false, true), 'view');
  assert.equal(destinationOf(files('a.run.safetensors'), false, false), 'runs');
  assert.equal(destinationOf(files('config.json', 'model.safetensors'), false, true), 'models');
  assert.equal(destinationOf(files('a.safetensors'), true, true), 'models');
});

test('terms are kept for each pair of languages; only finished ones count; a table is read as rows', async () => {
  const kept = new Map([['wasmformer.terms.en-de', '[{"source":"screen","target":"Bildschirm"},{"source":1}]'], ['wasmformer.terms.fr-en', '{']]);
  globalThis.localStorage = { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value) };
  const { Terms, termsOf } = await load('translate/terms/terms.svelte.ts');
  const termsFor = (sourceCode, targetCode) => new Terms({ sourceCode, targetCode });
  const terms = termsFor('de', 'en');
  assert.equal(terms.glossary, undefined);
  terms.set([{ source: ' Hund* ', target: 'canine' }, { source: 'Katze', target: ' ' }]);
  assert.deepEqual(terms.glossary, [{ source: 'Hund*', target: 'canine' }]);
  assert.deepEqual(termsFor('de', 'en').rows.length, 2);
  assert.deepEqual(termsFor('en', 'de').glossary, [{ source: 'screen', target: 'Bildschirm' }]);
  assert.equal(termsFor('fr', 'en').glossary, undefined);
  assert.deepEqual(termsOf('Hund\tdog\r\n\nKatze\n'), [{ source: 'Hund', target: 'dog' }, { source: 'Katze', target: '' }]);
});

test('each view belongs to one place, and the keys of tabs go round', async () => {
  globalThis.addEventListener ??= () => {};
  const [{ views, places, placeOf, viewsOf }, { tabAfter }] = await load(['shell/url-state.svelte.ts', 'shared/dom/roving.ts']);
  assert.deepEqual(places.flatMap((place) => [...viewsOf(place)]).toSorted(), views.toSorted());
  for (const view of views) assert.ok(viewsOf(placeOf(view)).includes(view), view);
  assert.equal(placeOf('classify'), 'translate');
  assert.equal(placeOf('beam'), 'inside');
  const keys = ['ArrowLeft', 'ArrowRight', 'Home', 'End', 'a'];
  assert.deepEqual(keys.map((key) => tabAfter(key, 0, 4)), [3, 1, 0, 3, 0]);
  assert.deepEqual(keys.map((key) => tabAfter(key, 3, 4)), [2, 0, 0, 3, 3]);
});
