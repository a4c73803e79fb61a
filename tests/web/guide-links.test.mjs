// The addresses of the page that the guides tell: each opens what it says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guides, text } from '../guides.mjs';
import { load } from './load.mjs';

globalThis.document ??= { baseURI: 'http://localhost/' };
globalThis.addEventListener ??= () => {};

/** The bundled models' sizes, of which the guides speak. */
const sizes = { encoderLayers: 3, decoderLayers: 3, heads: 4, norm: 'post' };
const links = guides.flatMap((guide) => [...text(guide).matchAll(/`#(\w+)(?:\?([^`]*))?`/g)]
  .map(([link, view, query = '']) => ({ link: `${guide}: ${link}`, view, query: new URLSearchParams(query) })));

test('links in guides name views, places, tours and settings that the page has', async () => {
  const [{ views }, { format, parse }, fields] =
    await load(['shell/url-state.svelte.ts', 'picture/place.ts', 'train/fields.ts']);
  const words = JSON.parse(text('web/src/lecture/words/en.json'));
  assert.ok(links.length > 40);
  for (const { link, view, query } of links) {
    assert.ok(views.includes(view), link);
    const [at, tour, setup] = ['at', 'tour', 'setup'].map((name) => query.get(name));
    if (at !== null) assert.equal(format(parse(at, sizes)), at, link);
    if (tour !== null) assert.ok(`stop_${tour.replace('.', '_')}_place` in words, link);
    if (setup !== null) {
      const chosen = fields.parse(setup);
      assert.equal(fields.write(chosen), setup, link);
      assert.deepEqual(fields.wrongs({ ...fields.defaultsOf(chosen, 0), ...chosen }), {}, link);
    }
  }
});
