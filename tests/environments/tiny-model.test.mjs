// The recipe of wasmformer/tiny.safetensors.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { trainTinyModel } from '../../bindings/tools/tiny-model.mjs';

test('the recipe of the tiny model makes the same bytes again', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'wasmformer-tiny-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const output = join(folder, 'tiny.safetensors');
  trainTinyModel(output);
  assert.ok(readFileSync(output).equals(readFileSync(join(import.meta.dirname, '../../bindings/tiny.safetensors'))));
});
