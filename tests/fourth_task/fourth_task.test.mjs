// A task that src/ does not know (denoise_task.cpp) trains, saves, resumes and reports, in the program and the package.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Trainer, Translator } from '../../dist/index.js';

const root = join(import.meta.dirname, '../..');
const program = join(root, 'build/native/tests/fourth_task/wasmformer_fourth_task');
const folder = mkdtempSync(join(tmpdir(), 'wasmformer-'));
const path = (name) => join(folder, name);
after(() => rmSync(folder, { recursive: true, force: true }));

const animals = ['dog', 'cat', 'horse', 'bird', 'fish', 'mouse'];
const texts = Array.from({ length: 120 }, (_, i) =>
  `the ${animals[i % 6]} sees the ${animals[Math.floor(i / 6) % 6]} and the ${animals[(i * 5 + 1) % 6]} runs`);
const config = { d_model: 16, ffn_dim: 32, num_heads: 2, encoder_layers: 1, decoder_layers: 1, batch_tokens: 200, warmup_steps: 20 };
const settings = Object.entries(config).flatMap(([key, value]) => ['--set', `${key}=${value}`]);

function run(...args) {
  const { status, stderr, stdout } = spawnSync(program, args, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return stdout;
}
const train = (output, ...more) =>
  run('train', '--objective', 'denoise', '--text', path('texts.txt'), '--validation', '10', '--tokenizer', path('words.model'), ...settings,
    '--validate-every', '20', '--output', path(output), ...more);
const log = (output) => readFileSync(path(`${output}/log.jsonl`), 'utf8').trim().split('\n').map((line) => JSON.parse(line));

before(() => {
  writeFileSync(path('texts.txt'), texts.join('\n'));
  run('tokenizer', '--input', path('texts.txt'), '--output', path('words.model'), '--vocab-size', '60', '--hard-vocab-limit=false');
});

test('the program trains it, reports its figure, and resumes to the same numbers', () => {
  train('whole', '--max-steps', '60');
  train('parts', '--max-steps', '40');
  train('parts', '--max-steps', '60', '--resume');
  const validations = log('whole').filter(({ valid_loss }) => valid_loss !== undefined);
  assert.deepEqual(validations.map(({ step }) => step), [20, 40, 60]);
  assert.ok(validations.every(({ restored_chrf: chrf }) => chrf >= 0 && chrf <= 100), JSON.stringify(validations));
  assert.ok(validations[2].valid_loss < validations[0].valid_loss);
  assert.deepEqual(readFileSync(path('parts/best.safetensors')), readFileSync(path('whole/best.safetensors')));
  const info = run('inspect', path('whole/last.safetensors'));
  assert.match(info, /denoise/);
});

test('a program without it says that it does not know the run', () => {
  const { status, stderr } = spawnSync(join(root, 'build/native/wasmformer'),
    ['train', '--objective', 'denoise', '--text', path('texts.txt'), '--validation', '10', '--tokenizer', path('words.model'), '--max-steps', '1', '--output', path('none')],
    { encoding: 'utf8' });
  assert.equal(status, 1);
  assert.match(stderr, /^wasmformer: \[train\] there is no objective 'denoise' here$/m);
});

test('the package trains it, saves, resumes to the same numbers, and uses the model', async () => {
  const built = join(root, 'build/wasm/fourth_task/simd');
  mkdirSync(path('wasm/relaxed'), { recursive: true });
  mkdirSync(path('wasm/simd'));
  copyFileSync(join(built, 'wasmformer.mjs'), path('wasm/relaxed/wasmformer.mjs'));
  for (const build of ['relaxed', 'simd']) copyFileSync(join(built, 'wasmformer.wasm'), path(`wasm/${build}/wasmformer.wasm`));
  const where = { threads: 1, wasmURL: `${pathToFileURL(path('wasm')).href}/` };
  const begin = () => Trainer.create({ objective: 'denoise', text: texts, validation: 10, tokenizer: { type: 'word' }, config, ...where });
  const ends = async (trainer, steps) => {
    let last;
    for await (const event of trainer.run({ steps, reportEvery: 20, validateEvery: 20, samples: 1 })) last = event;
    return last;
  };
  const whole = await begin();
  const end = await ends(whole, 60);
  assert.ok(end.validation.restoredChrf >= 0 && end.validation.restoredChrf <= 100);
  assert.equal(end.validation.samples.length, 1);
  const { reference, source } = end.validation.samples[0];
  assert.deepEqual(source.split(' '), reference.split(' ').filter((_, i) => i % 4 !== 3));

  const first = await begin();
  await ends(first, 40);
  const saved = await first.save();
  first.dispose();
  const second = await Trainer.resume(saved, where);
  const resumed = await ends(second, 20);
  assert.equal(resumed.step, 60);
  assert.equal(resumed.loss, end.loss);
  assert.equal(resumed.validation.loss, end.validation.loss);
  second.dispose();

  const translator = await Translator.load(await whole.save(), { ...where });
  assert.equal(typeof (await translator.translate('the dog sees')).text, 'string');
  translator.dispose();
  whole.dispose();
});
