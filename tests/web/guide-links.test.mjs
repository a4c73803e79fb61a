// The addresses of the page that the guides tell: each opens what it says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guides, text } from '../guides.mjs';
import { load } from './load.mjs';

globalThis.document ??= { baseURI: 'http://localhost/' };
globalThis.addEventListener ??= () => {};

/** The bundled models' sizes, of which the guides speak. */
const sizes = { encoderLayers: 3, decoderLayers: 3, heads: 4, norm: 'post' };
const links = guides.flatMap((guide) => [...text(guide).matchAll(/`#(\w+)(?:\/(\w+))?(?:\?([^`]*))?`/g)]
  .map(([link, view, stop, query = '']) => ({ link: `${guide}: ${link}`, view, stop, query: new URLSearchParams(query) })));

test('links in guides name views, places, tours and settings that the page has', async () => {
  const [{ views }, { format, parse }, fields, { STOPS }] =
    await load(['shell/url-state.svelte.ts', 'picture/place.ts', 'train/fields.ts', 'lecture/stops/stops.ts']);
  const ablations = JSON.parse(text('web/src/laboratory/ablations.json'));
  const words = JSON.parse(text('web/src/lecture/words/en.json'));
  assert.ok(links.length > 40);
  for (const { link, view, stop, query } of links) {
    assert.ok(views.includes(view), link);
    assert.ok(stop === undefined || STOPS.some(({ id }) => id === stop), link);
    const [at, tour, setup, ablation] = ['at', 'tour', 'setup', 'ablation'].map((name) => query.get(name));
    assert.ok(ablation === null || ablations.some(({ id }) => id === ablation), link);
    if (at !== null) assert.equal(format(parse(at, sizes)), at, link);
    if (tour !== null) assert.ok(`stop_${tour.replace('.', '_')}_place` in words, link);
    if (setup !== null) {
      const chosen = fields.parse(setup);
      assert.equal(fields.write(chosen), setup, link);
      assert.deepEqual(fields.wrongs({ ...fields.defaultsOf(chosen, 0), ...chosen }), {}, link);
    }
  }
});
