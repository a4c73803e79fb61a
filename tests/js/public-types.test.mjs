// Nothing that the entries export changes by accident; after a change, `node tests/public-types.mjs` renews the snapshot.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { publicTypes, snapshot } from '../public-types.mjs';

test('the public types are those of tests/fixtures/public-types.d.ts', () => {
  const [before, now] = [readFileSync(snapshot, 'utf8'), publicTypes()].map((text) => text.split('\n'));
  assert.ok(now.length > 1000);
  assert.deepEqual(now, before);
});
