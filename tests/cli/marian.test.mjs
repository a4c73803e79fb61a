// `wasmformer import-marian`, on the tiny models of tests/fixtures/marian.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

const program = join(import.meta.dirname, '../../build/native/wasmformer');
const fixtures = join(import.meta.dirname, '../fixtures/marian');
const expected = JSON.parse(readFileSync(join(fixtures, 'expected.json'), 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'wasmformer-'));
const path = (name) => join(folder, name);
after(() => rmSync(folder, { recursive: true, force: true }));

const run = (args, options = {}) => spawnSync(program, args, { encoding: 'utf8', ...options });
function succeed(args, options) {
  const result = run(args, options);
  assert.equal(result.status, 0, `${args.join(' ')}: ${result.stderr}`);
  return result.stdout;
}
function refuse(pattern, args) {
  const { status, stderr, stdout } = run(args);
  assert.notEqual(status, 0, args.join(' '));
  assert.match(stderr, pattern);
  assert.equal(stderr.trim().split('\n').length, 1, stderr);
  assert.equal(stdout, '');
}
const translate = (model) => succeed(['translate', '--model', model, '--beam-size', '1', '--max-length', '12'],
  { input: expected.texts.join('\n') + '\n' }).split('\n').slice(0, -1);

for (const [kind, arithmetic] of [['tiny', 'hugging_face'], ['tiny-legacy', 'hugging_face'], ['tiny-npz', 'marian']]) {
  test(`${kind} is imported and translates as PyTorch does`, () => {
    const model = path(`${kind}.safetensors`);
    succeed(['import-marian', join(fixtures, kind), '--output', model, '--languages', 'xx-yy']);
    assert.deepEqual(translate(model), expected[arithmetic].printed);
    const { config, metadata } = JSON.parse(succeed(['inspect', model, '--json']));
    assert.equal(config.activation, 'swish');
    assert.equal(metadata.languages, 'xx-yy');
  });
}

test('weights are stored as f32, f16 or int8', () => {
  const types = (precision) => {
    const model = path(`${precision}.safetensors`);
    succeed(['import-marian', join(fixtures, 'tiny'), '--output', model, '--precision', precision]);
    assert.equal(translate(model).length, expected.texts.length);
    return Object.keys(JSON.parse(succeed(['inspect', model, '--json'])).tensors);
  };
  assert.deepEqual(types('f32'), ['F32']);
  assert.deepEqual(types('f16'), ['F16']);
  assert.deepEqual(types('int8'), ['F32', 'I8']);
  refuse(/--precision.*int4/, ['import-marian', join(fixtures, 'tiny'), '--output', path('x'), '--precision', 'int4']);
});

test('an imported model can be averaged', () => {
  const model = path('float.safetensors');
  succeed(['import-marian', join(fixtures, 'tiny'), '--output', model]);
  succeed(['average', '--output', path('mean.safetensors'), model, model]);
  assert.deepEqual(translate(path('mean.safetensors')), expected.hugging_face.printed);
});

test('what is not a Marian model is refused in one sentence, and nothing is written', () => {
  const output = path('refused.safetensors');
  const refused = (pattern, from) => refuse(pattern, ['import-marian', from, '--output', output]);
  refused(/\[files\] cannot read the folder '.*nowhere': No such file/, path('nowhere'));
  mkdirSync(path('empty'));
  refused(/empty: \[marian\] the folder has neither config\.json/, path('empty'));
  cpSync(join(fixtures, 'tiny'), path('bart'), { recursive: true });
  writeFileSync(path('bart/config.json'), JSON.stringify({ model_type: 'bart', d_model: 16 }));
  refused(/bart: \[import\] config\.json has model_type 'bart'; only 'marian', 'bert' and 'distilbert' can be read/, path('bart'));
  cpSync(join(fixtures, 'tiny-legacy'), path('cut'), { recursive: true });
  const weights = readFileSync(path('cut/pytorch_model.bin'));
  writeFileSync(path('cut/pytorch_model.bin'), weights.subarray(0, weights.length - 100));
  refused(/cut: \[pickle\] the file is truncated: storage/, path('cut'));
  assert.equal(existsSync(output), false);
});
