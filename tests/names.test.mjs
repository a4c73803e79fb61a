// No test is lost: each name of an earlier commit is still that of a test, or tests/REPLACED.md says what replaces it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { namesIn } from './names.mjs';

const read = (name) => readFileSync(join(import.meta.dirname, name), 'utf8');
const earlier = read('fixtures/test-names-3d264aa.txt').trimEnd().split('\n');

test('each test of commit 3d264aa is there, or the table of replaced tests names it', () => {
  const rows = [...read('REPLACED.md').matchAll(/^\| `(.*?)` \| (.+?) \| (.+?) \|$/gm)];
  const replaced = new Set(rows.map(([, name]) => name));
  const here = new Set(namesIn(import.meta.dirname));
  assert.ok(earlier.length > 1000 && here.size > 1000, `${earlier.length} and ${here.size}`);
  assert.deepEqual(earlier.filter((name) => !here.has(name) && !replaced.has(name)), []);
});
