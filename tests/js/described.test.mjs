// The options that the module declares are those that TypeScript declares, and each is documented in both.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import ts from 'typescript';
import { Engine } from '../../dist/worker/engine.js';
import { options } from '../../dist/options.js';

/** The members of an interface in a file of bindings/js/shared, with whether they have a comment. */
function membersOf(file, name) {
  const path = new URL(`../../bindings/js/shared/${file}`, import.meta.url);
  const source = ts.createSourceFile(file, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const found = source.statements.find((statement) => statement.name?.text === name);
  assert.ok(found, name);
  return found.members.map((member) => [member.name.text, ts.getJSDocCommentsAndTags(member).length > 0]);
}

const namesOf = (fields) => fields.map(({ name }) => name).sort();
const field = (fields, name) => fields.find((one) => one.name === name);
const heads = field(options.translate, 'maskedHeads').item.fields;

// Declared in C++, and the interfaces that declare them in TypeScript with what is JavaScript's own.
const declared = [
  ['TranslateOptions', options.translate, [['types.ts', 'TranslateOptions']], ['onToken', 'signal']],
  ['AnnotateOptions', options.annotate, [['types.ts', 'AnnotateOptions']], ['signal']],
  ['SamplingOptions', field(options.translate, 'sampling').fields, [['types.ts', 'SamplingOptions']], []],
  ['AttentionHead', heads, [['types.ts', 'AttentionHead']], []],
  ['EvaluateOptions', options.evaluate, [['trainer-types.ts', 'EvaluateOptions']], ['signal']],
  ['RunOptions', options.run, [['trainer-types.ts', 'RunOptions']], ['signal']],
  ['TokenizerSettings', field(options.request, 'tokenizer').fields, [['trainer-types.ts', 'TokenizerSettings']], []],
  ['Augmentation', field(options.request, 'augment').fields, [['trainer-types.ts', 'Augmentation']], []],
  ['TrainerOptions', options.request.filter(({ name }) => !['resume', 'keepTexts'].includes(name)),
    [['trainer-types.ts', 'TrainerOptions'], ['trainer-types.ts', 'TrainingData']], ['pairs', 'tsv', 'labelled', 'tagged', 'validLabelled', 'validTagged', 'mono', 'from', 'signal']],
  ['Settings', options.config, [['types.ts', 'ModelConfig'], ['trainer-types.ts', 'TrainingConfig']], []],
];
for (const [name, fields, interfaces, own] of declared) {
  test(`${name}: the same names in C++ and in TypeScript, all documented`, () => {
    const members = interfaces.flatMap(([file, one]) => membersOf(file, one));
    const names = members.map(([member]) => member).filter((member) => !own.includes(member));
    assert.deepEqual(names.sort(), namesOf(fields));
    assert.deepEqual(members.filter(([, isDocumented]) => !isDocumented), []);
    assert.ok(fields.every(({ help }) => help.length > 8));
  });
}

test("the written description matches the module's", async () => {
  const written = JSON.parse(readFileSync(new URL('../../dist/options.json', import.meta.url)));
  assert.deepEqual(written, options);
  assert.deepEqual((await Engine.create({ build: 'simd' })).describe(), options);
});

test('ranges, defaults, choices and tasks are available for a form', () => {
  const beams = field(options.translate, 'beamSize');
  assert.deepEqual([beams.type, beams.default, beams.minimum, beams.maximum], ['integer', 4, 1, 64]);
  assert.deepEqual(field(options.config, 'norm').choices, ['post', 'pre']);
  assert.deepEqual(options.tasks.map(({ name }) => name).includes('reverse'), true);
  assert.equal(options.presets.find(({ name }) => name === 'big').config.d_model, 1024);
});
