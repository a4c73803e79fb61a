// Training by a file of options (train --config), and the options.json that every run writes.
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { path, refuse, run, succeed, train } from './trained.mjs';

const common = { 'valid-data': path('valid.tsv'), tokenizer: path('tok.model'), preset: 'tiny', languages: 'de-en', 'report-every': 1 };
const settings = { d_model: 32, ffn_dim: 64, warmup_steps: 50, batch_tokens: 200 };
const recipe = { ...common, data: [path('train.tsv.gz') + ':0.5', path('valid.tsv') + ':2'], set: settings, augment: { concat: 0.5 }, 'max-steps': 8 };
/** Writes a file of options, whose text may be given instead of an object for `train`. */
function file(name, options) {
  writeFileSync(path(name), typeof options === 'string' ? options : JSON.stringify({ train: options }));
  return path(name);
}
const trained = (output) => readFileSync(path(`${output}/last.safetensors`));
const used = (output) => JSON.parse(readFileSync(path(`${output}/options.json`), 'utf8')).train;
const byConfig = (config, output, ...more) => ['train', '--config', config, '--output', path(output), ...more];

test('a file of options with comments, and what made the texts beside them, trains as the same flags do', () => {
  const text = `// A recipe.\n{ "prepare": { "anything": [1, { "at": "all" }] }, /* flags */ "train": ${JSON.stringify(recipe)} }`;
  succeed(...byConfig(file('recipe.json', text), 'by-file'));
  const flags = ['--data', ...recipe.data, '--augment', 'concat=0.5', '--max-steps', '8', '--report-every', '1'];
  succeed(...train('by-flags', ...flags).filter((word, i, words) => word !== path('train.tsv.gz') && words[i + 1] !== path('train.tsv.gz')));
  assert.ok(trained('by-file').equals(trained('by-flags')));
});

test('options.json has all settings and gives the same run again', () => {
  succeed(...byConfig(file('recipe.json', recipe), 'first', '--seed', '7'));
  assert.equal(used('first').seed, 7);
  assert.deepEqual(used('first').data, recipe.data);
  assert.deepEqual([used('first').set.d_model, used('first').set.beta2, used('first').output], [32, 0.98, undefined]);
  succeed(...byConfig(path('first/options.json'), 'again'));
  assert.ok(trained('first').equals(trained('again')));
  assert.equal(readFileSync(path('first/options.json'), 'utf8'), readFileSync(path('again/options.json'), 'utf8'));
});

test('options.json of a run with a budget has the settings that were chosen, for the same model again', () => {
  succeed('train', '--data', path('train.tsv.gz'), '--valid-data', path('valid.tsv'), '--set', 'd_model=32', 'num_heads=2', 'ffn_dim=64',
    '--budget', '0.02', '--output', path('budgeted'));
  const { config } = JSON.parse(succeed('inspect', path('budgeted/best.safetensors'), '--json').stdout);
  const { set, budget } = used('budgeted');
  assert.deepEqual([set.encoder_layers, set.dropout, set.positions], [config.encoder_layers, config.dropout, config.positions]);
  assert.deepEqual([budget, set.optimizer, set.decay_steps], [0.02, 'muon', undefined]);
  succeed(...byConfig(path('budgeted/options.json'), 'budgeted-again'));
  assert.deepEqual(used('budgeted-again'), used('budgeted'));
  assert.match(succeed(...byConfig(path('budgeted/options.json'), 'budgeted', '--resume')).stderr, /nothing to do/);
});

test('options.json of a resumed run has the options of its beginning too', () => {
  succeed(...byConfig(file('recipe.json', recipe), 'resumed', '--max-steps', '4'));
  succeed(...byConfig(path('resumed/options.json'), 'resumed', '--resume', '--max-steps', '8'));
  succeed(...byConfig(path('recipe.json'), 'in-one'));
  assert.ok(trained('resumed').equals(trained('in-one')));
  assert.deepEqual([used('resumed')['max-steps'], used('resumed').data], [8, recipe.data]);
});

test('options.json of a run that is resumed with another goal has that one alone', () => {
  const run = ['train', '--task', 'copy', '--pairs', '60', '--output', path('goals')];
  succeed(...run, '--set', 'd_model=32', 'ffn_dim=64', 'num_heads=2', '--max-epochs', '1');
  succeed(...run, '--resume', '--max-steps', '40');
  assert.deepEqual([used('goals')['max-steps'], used('goals')['max-epochs']], [40, undefined]);
});

test('labelled and masked texts, made-up tasks and fine-tuning are repeated by their options.json', () => {
  writeFileSync(path('labels.tsv'), Array.from({ length: 40 }, (_, i) => `${i % 2 ? 'odd' : 'even'}\tdrei vier ${i % 2 ? 'eins' : 'zwei'}\n`).join(''));
  const small = ['--set', 'd_model=32', 'ffn_dim=64', 'num_heads=2', '--max-steps', '3'];
  const runs = {
    labels: ['--labels', path('labels.tsv'), '--validation', '8', '--tokenizer', path('tok.model'), ...small],
    masks: ['--text', path('text'), '--validation', '8', '--tokenizer', path('tok.model'), ...small],
    task: ['--task', 'reverse', '--pairs', '200', ...small],
    tuned: ['--from', path('run/best.safetensors'), '--data', path('train.tsv.gz'), '--valid-data', path('valid.tsv'), '--max-steps', '3', '--set', 'dropout=0.2'],
  };
  for (const [name, flags] of Object.entries(runs)) {
    succeed('train', '--output', path(name), ...flags);
    succeed(...byConfig(path(`${name}/options.json`), `${name}-again`));
    assert.ok(trained(name).equals(trained(`${name}-again`)), name);
  }
});

test('what the command line gives wins, also over the same setting under another flag', () => {
  const config = file('recipe.json', { ...recipe, 'batch-tokens': 300 });
  succeed(...byConfig(config, 'wins', '--max-steps', '2', '--set', 'batch_tokens=150', 'dropout=0.3', '--data', path('valid.tsv')));
  const { set, data, 'max-steps': steps } = used('wins');
  assert.deepEqual([set.batch_tokens, set.dropout, set.d_model, data, steps], [150, 0.3, 32, [path('valid.tsv')], 2]);
  succeed(...byConfig(config, 'wins-too', '--max-steps', '2', '--batch-tokens', '160'));
  assert.equal(used('wins-too').set.batch_tokens, 160);
});

test('a file of options that is wrong is refused with one sentence', () => {
  const refused = (pattern, options, ...more) => refuse(pattern, byConfig(file('bad.json', options), 'bad', ...more));
  refused(/bad\.json: unknown option 'max-step' of train; did you mean 'max-steps'\?$/, { ...recipe, 'max-step': 3 });
  refused(/bad\.json: unknown option 'config' of train/, { ...recipe, config: 'other.json' });
  refused(/unknown option 'droput'.*did you mean 'dropout'/, { ...recipe, set: { droput: 0.1 } });
  refused(/bad\.json: unknown object 'tain'; did you mean 'train'\?/, '{ "train": {}, "tain": {} }');
  refused(/bad\.json has no object "train"/, '{ "prepare": {} }');
  refused(/bad\.json has no object "train"/, '[]');
  refused(/bad\.json: invalid JSON: /, '{ "train": {');
  refused(/bad\.json: max-steps must be a single number or text, not \[3\]/, { ...recipe, 'max-steps': [3] });
  refused(/bad\.json: resume must be true or false, not 1/, { ...recipe, resume: 1 });
  refused(/bad\.json: seed must be a value, not a switch, not true/, { ...recipe, seed: true });
  refused(/bad\.json: languages must be a number, a text, or a list of texts, not \{"de":"en"\}/, { ...recipe, languages: { de: 'en' } });
  refused(/bad\.json: tokenizer must be true or false, a number, .*, not null/, { ...recipe, tokenizer: null });
  refused(/max_steps|max-steps|steps/, { ...recipe, 'max-steps': 0 });
  refuse(/cannot read .*none\.json/, byConfig(path('none.json'), 'bad'));
  refuse(/--config takes a JSON file .*; --set d_model=64 changes one setting$/, byConfig('d_model=64', 'bad'));
  refuse(/--config takes a JSON file .*; the preset is --preset tiny$/, byConfig('tiny', 'bad'));
  refuse(/--config takes a JSON file .*, such as the options\.json of a run$/, byConfig('x', 'bad'));
});

for (const direction of ['de-en', 'en-de', 'en-zh', 'zh-en', 'fr-en']) {
  test(`the recipe of ${direction} is taken, with files from the current folder`, () => {
    const folder = path(direction);
    mkdirSync(folder);
    copyFileSync(path('valid.tsv'), `${folder}/train.tsv`);
    copyFileSync(path('valid.tsv'), `${folder}/valid.tsv`);
    copyFileSync(path('tok.model'), `${folder}/tokenizer.model`);
    const recipe = fileURLToPath(new URL(`../../web/models/${direction}/recipe.json`, import.meta.url));
    const small = ['--set', 'd_model=32', 'ffn_dim=64', 'num_heads=2', '--max-steps', '1'];
    const { status, stderr } = run(['train', '--config', recipe, '--output', 'run', ...small], { cwd: folder });
    assert.equal(status, 0, stderr);
    assert.deepEqual([used(`${direction}/run`).languages, used(`${direction}/run`).set.quantization_bits], [direction, 4]);
  });
}
