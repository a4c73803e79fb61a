// The settings of a training: what is chosen, what its link says, and what a link restores.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { load } from './load.mjs';

globalThis.document ??= { baseURI: 'http://localhost/' };
globalThis.addEventListener ??= () => {};
// Writes the address as a browser does.
globalThis.history ??= { replaceState: (_state, _title, hash) => (globalThis.location = { hash }) };

let Setup, UrlState, fields;
before(async () => {
  [{ Setup }, { UrlState }, fields] = await load(['train/setup.svelte.ts', 'shell/url-state.svelte.ts', 'train/fields.ts']);
});

/** The settings of a page that is opened at an address. */
function open(hash) {
  globalThis.location = { hash };
  const urlState = new UrlState();
  urlState.start();
  const setup = new Setup(urlState, { translator: null }, { sources: {} });
  setup.follow();
  return { setup, urlState };
}

/** The address that the page writes into its bar, which is after a pause. */
async function written(urlState) {
  const before = globalThis.location.hash;
  while (globalThis.location.hash === before) await new Promise((resolve) => setTimeout(resolve, 10));
  return urlState.to('train');
}

test('settings and seed are in the address, and a link restores them', async () => {
  const { setup, urlState } = open('#train');
  const changes = { data: 'dates', seed: '7', optimizer: 'adamw', weight_decay: '0.01', goal: 'minutes' };
  for (const [key, value] of Object.entries(changes)) setup.set(key, value);
  assert.match(setup.text, /goal:minutes/);
  urlState.set({ setup: setup.text });
  const address = await written(urlState);
  assert.equal(globalThis.location.hash, address);

  const { setup: restored } = open(address);
  const { data, seed, optimizer, weight_decay, minutes } = restored.values;
  assert.deepEqual([data, seed, optimizer, weight_decay, minutes], ['dates', '7', 'adamw', '0.01', '15']);
  assert.ok(restored.ready);
  const { options, goal } = await restored.experiment();
  const { config, seed: planted, task } = options;
  assert.deepEqual([goal, planted, task.name, config.optimizer, config.weight_decay], [{ minutes: 15 }, 7, 'dates', 'adamw', 0.01]);
  restored.reset();
  assert.deepEqual([restored.values.seed, restored.values.data], ['1', 'dates']);

  const { setup: wrong } = open('#train?setup=data:reverse,preset:tiny,norm:sideways,nonsense:1');
  const [[key, [why]]] = Object.entries(wrong.wrong);
  assert.deepEqual([key, why, wrong.ready], ['norm', 'choice', false]);
});

test('an address that is followed while another waits to be written is not overwritten', async () => {
  const { urlState } = open('#train');
  urlState.set({ text: 'typed' });
  globalThis.location = { hash: '#about?text=followed' }; // the browser says so a moment later
  await new Promise((resolve) => setTimeout(resolve, 400));
  assert.equal(globalThis.location.hash, '#about?text=followed');
});

test('what Muon and a sampled output layer need can be set where it has an effect, and reaches the package', async () => {
  const { setup } = open('#train?setup=data:reverse,output_sample:1024,unigram_bias:yes');
  assert.ok(!fields.isUsed('muon_rate', setup.values), 'Adam has one rate');
  setup.set('optimizer', 'muon');
  setup.set('muon_rate', '0.012');
  assert.ok(fields.isUsed('muon_rate', setup.values) && fields.isUsed('muon_momentum', setup.values));
  const { options: { config } } = await setup.experiment();
  const { optimizer, muon_rate: rate, output_sample: sample, unigram_bias: bias } = config;
  assert.deepEqual([optimizer, rate, sample, bias, 'muon_momentum' in config], ['muon', 0.012, 1024, true, false]);
  setup.set('data', 'own');
  setup.set('start', 'model');
  assert.ok(!fields.isUsed('unigram_bias', setup.values), 'a model has biases of its own');
});

test('parts of the model can be taken out or changed; what does not fit together is said at a field', async () => {
  const { setup } = open('#train?setup=data:reverse,norm:none,positions:integers');
  setup.set('residual', 'no');
  setup.set('causal', 'no');
  setup.set('key_dim', '4');
  const { name, options: { config } } = await setup.experiment();
  const { norm, positions, residual, causal, key_dim: keys } = config;
  assert.deepEqual([norm, positions, residual, causal, keys], ['none', 'integers', false, false, 4]);
  assert.match(name, /^Reverse · Width of a key \(dₖ\) = 4 · no norm · no residual connections · whole numbers · no causal mask$/);
  const wrong = (settings) => Object.entries(open(`#train?setup=data:reverse,${settings}`).setup.wrong).map(([key, [why]]) => [key, why]);
  assert.deepEqual(wrong('positions:rotary,key_dim:3'), [['key_dim', 'evenHead']]);
  assert.deepEqual(wrong('positions:rotary,d_model:60'), [['num_heads', 'evenHead']]);
  assert.deepEqual(wrong('positions:rotary,attention:additive'), [['attention', 'rotary']]);
  assert.deepEqual(wrong('positions:sinusoidal_halves,d_model:63,num_heads:3'), [['d_model', 'even']]);
  assert.deepEqual(wrong('positions:none,d_model:63,num_heads:3'), []);
});

test("the page's own pairs and the visitor's are learned in a given time, which chooses all else", async () => {
  const { setup } = open('#train?setup=data:en-zh,seed:3');
  const { goal, budget } = setup.values;
  assert.deepEqual([goal, budget], ['budget', '2']);
  for (const key of ['preset', 'tokenizer', 'vocab', 'joint', 'd_model', 'optimizer', 'steps'])
    assert.ok(!fields.isUsed(key, setup.values), key);
  for (const key of ['budget', 'seed', 'lowercase']) assert.ok(fields.isUsed(key, setup.values), key);
  setup.set('budget', '10');
  assert.equal(setup.text, 'data:en-zh,seed:3,budget:10');
  setup.set('budget', '0');
  assert.deepEqual(Object.keys(setup.wrong), ['budget']);
  setup.set('data', 'own');
  assert.deepEqual([setup.values.goal, setup.values.budget], ['budget', '5']);
  setup.set('start', 'model');
  assert.equal(setup.values.goal, 'epochs', 'a model that goes on learning has its sizes');
  setup.set('goal', 'budget');
  assert.deepEqual(Object.keys(setup.wrong), []);
  const { setup: task } = open('#train?setup=data:reverse,goal:budget,budget:1');
  const { options, goal: taskGoal } = await task.experiment();
  assert.deepEqual([options, taskGoal], [{ task: { name: 'reverse', pairs: 6000 }, budget: 1, seed: 1 }, { budget: 1 }]);
});

test('a link that gives steps or sizes means what it meant before there was a budget', () => {
  for (const [given, expected] of [['steps:500', 'steps'], ['epochs:3', 'epochs'], ['d_model:64', 'steps'], ['goal:minutes', 'minutes']])
    assert.equal(open(`#train?setup=data:de-en,${given}`).setup.values.goal, expected, given);
});

test('a constant learning rate shows the warm-up that it has', async () => {
  const { setup } = open('#train?setup=data:reverse,schedule:constant');
  assert.equal(setup.values.warmup_steps, '100');
  assert.ok(fields.isUsed('warmup_steps', setup.values));
  const { options } = await setup.experiment();
  assert.equal(options.config.schedule, 'constant');
  assert.equal(fields.presetOf(setup.values.preset).warmup_steps, 100, 'the package takes it from the preset');
});

test('a run is named by what differs from the defaults, and names that are compared say only that', async () => {
  const named = (setup) => open(`#train?${new URLSearchParams({ setup })}`).setup.name();
  assert.equal(named('data:dates'), 'Dates');
  assert.equal(named('data:dates,norm:post,schedule:constant,warmup_steps:0'), 'Dates · post-norm · constant · no warm-up');
  assert.equal(named('data:dates,num_heads:1,seed:2,steps:300'), 'Dates · Random seed = 2 · Attention heads = 1');
  const { apart } = await load('train/differences.ts');
  assert.deepEqual(apart(['Dates', 'Dates · post-norm', 'Dates · post-norm · no warm-up']), ['Dates', 'post-norm', 'post-norm · no warm-up']);
});

test("without a warm-up the paper's schedule still has the chosen peak", async () => {
  const { setup } = open('#train?setup=data:dates,schedule:noam,warmup_steps:0,learning_rate:0.003');
  const { options: { config } } = await setup.experiment();
  assert.equal(config.learning_rate, 0.003 * Math.sqrt(64));
});

test("the watched sentence of the page's own pairs is its first example", async () => {
  const { examples } = await load('translate/examples.ts');
  const { setup } = open('#train?setup=data:de-en');
  Object.defineProperty(setup, 'source', { value: { made: { tsv: new Blob(['a\tb']), pairs: 1, validation: [], languages: '' } } });
  assert.equal((await setup.experiment()).watch, examples.de[0]);
});

test('every field of the forms has a sentence of help in both languages', async () => {
  const [{ helpOf }, { FIELDS }] = await load(['train/help.svelte.ts', 'train/fields.ts']);
  const read = (name) => JSON.parse(readFileSync(new URL(`../../web/src/train/${name}`, import.meta.url), 'utf8'));
  const [table, words] = [read('help.zh.json'), read('words/zh.json')];
  const keys = Object.keys(FIELDS).filter((key) => !['data', 'start', 'tokenizer', 'goal'].includes(key));
  for (const key of keys) {
    assert.match(helpOf(key), /^[A-Z0-9][^]*[.]$/, key);
    assert.match(table[key] ?? words[`h_${key}`] ?? '', /\p{Script=Han}[^]*。$/u, key);
  }
});
