// The options that the module declares: described for forms, and the TypeScript types made from them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { modules, moduleTypes, optionTypes } from '../../bindings/tools/generate-types.mjs';
import { Engine } from '../../dist/worker/engine.js';
import { options } from '../../dist/options.js';

const field = (fields, name) => fields.find((one) => one.name === name);

test("the types in bindings/js/generated are those of the module's options", () => {
  const written = readFileSync(new URL('../../bindings/js/generated/options.ts', import.meta.url), 'utf8');
  assert.equal(written, optionTypes(options));
});

test("the types in bindings/js/generated are those that Emscripten writes of the module's functions", () => {
  const read = (name) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
  for (const [written, module] of Object.entries(modules))
    assert.equal(read(`bindings/js/generated/${module.file}`), moduleTypes(read(`build/wasm/types/${written}.d.ts`), module));
});

test('each option is documented by a sentence', () => {
  const { presets, tasks, training, ...lists } = options;
  const all = Object.values(lists).flat();
  assert.ok(all.length > 60);
  assert.deepEqual(all.filter(({ help }) => help.length <= 8), []);
});

test("the written description matches the module's", async () => {
  const written = JSON.parse(readFileSync(new URL('../../dist/options.json', import.meta.url)));
  assert.deepEqual(written, options);
  assert.deepEqual((await Engine.create({ build: 'simd' })).describe(), options);
});

test('the C++ header names every preset', () => {
  const header = readFileSync(new URL('../../src/include/wasmformer/training.h', import.meta.url), 'utf8');
  const [, names] = /std::string preset = \{\}; +\/\/ (.+)/.exec(header);
  assert.deepEqual(names.split(/, | or /), options.presets.map(({ name }) => name));
});

test('ranges, defaults, choices and tasks are available for a form', () => {
  const beams = field(options.translate, 'beamSize');
  assert.deepEqual([beams.type, beams.default, beams.minimum, beams.maximum], ['integer', 4, 1, 64]);
  assert.deepEqual(field(options.config, 'norm').choices, ['post', 'pre', 'none']);
  assert.deepEqual(options.tasks.map(({ name }) => name).includes('reverse'), true);
  assert.equal(options.presets.find(({ name }) => name === 'big').config.d_model, 1024);
});
