// Addresses that the page of commit 3d264aa wrote open the same view, with the same settings.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { load } from './load.mjs';

const links = JSON.parse(readFileSync(new URL('../fixtures/3d264aa/links.json', import.meta.url), 'utf8'));
globalThis.document ??= { baseURI: 'http://localhost/' };
globalThis.addEventListener ??= () => {};

test('links of 3d264aa open the same view', async () => {
  const { UrlState } = await load('shell/url-state.svelte.ts');
  for (const { address, view, parameters } of links.filter((link) => link.parameters)) {
    globalThis.location = { hash: address };
    const urlState = new UrlState();
    urlState.start();
    assert.deepEqual([urlState.view, urlState.parameters], [view, parameters], address);
  }
});

test('links of 3d264aa to settings of a training train the same', async () => {
  const [{ Setup }, { UrlState }] = await load(['train/setup.svelte.ts', 'shell/url-state.svelte.ts']);
  const training = links.filter((link) => link.experiment);
  assert.ok(training.length >= 5);
  for (const { address, view, experiment } of training) {
    globalThis.location = { hash: address };
    const urlState = new UrlState();
    urlState.start();
    assert.equal(urlState.view, view);
    const setup = new Setup(urlState, { translator: null }, { sources: {} });
    setup.follow();
    const { name, ...made } = await setup.experiment();
    assert.deepEqual(made, experiment, address);
  }
});
