// Every setting of a model and its training changes what a run computes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Trainer } from '../../dist/index.js';

const config = {
  d_model: 16, ffn_dim: 32, num_heads: 2, encoder_layers: 1, decoder_layers: 1, batch_tokens: 128, max_length: 16,
  warmup_steps: 4,
  dropout: 0.1, optimizer: 'adamw', schedule: 'cosine', decay_steps: 20, norm: 'post', weight_decay: 0.1, clip_norm: 1, label_smoothing: 0.1,
};
const others = {
  d_model: 24, encoder_layers: 2, decoder_layers: 2, num_heads: 4, ffn_dim: 48, max_length: 6, attention: ['dot', 'additive', 'bilinear'],
  activation: ['gelu', 'swish'], norm: ['pre', 'none'], residual: false, causal: false, key_dim: 3,
  positions: ['learned', 'sinusoidal_halves', 'sinusoidal_marian', 'rotary', 'none', 'integers', 'fractions'], scale_embedding: false, decoder_self: 'ssru', tie_embeddings: ['target', 'none'], output_bias: false,
  norm_epsilon: 0.1, dropout: 0.3, attention_dropout: 0.3, activation_dropout: 0.3, optimizer: ['adam', 'sgd', 'muon'],
  schedule: ['noam', 'inverse_sqrt', 'linear', 'constant'], learning_rate: 0.05, warmup_steps: 2, decay_steps: 10, beta1: 0.5, beta2: 0.9,
  epsilon: 0.01, weight_decay: 0.5, clip_norm: 0.01, label_smoothing: 0, batch_tokens: 64, accumulate: 2, quantization_aware: true, seed: 2,
  output_sample: 8, unigram_bias: true,
};
// Of training that rounds weights.
const ofRounding = { quantization_bits: 4, quantization_start: 4 };
const ofMuon = { muon_rate: 0.05, muon_momentum: 0.5 };
// Of models that classify, tag or fill masks; a translator refuses them.
const ofEncoders = { crf: true, pooling: 'first', pooler: 'tanh', embedding_norm: true, convolution_width: 3, multi_label: true, word_dropout: 0.1, tag_weight: 2, balance_classes: true, word_scores: true, mask_rate: 0.3, freeze_steps: 5 };
// Of pieces, which the task's tokenizer of characters does not have.
const ofPieces = { bpe_dropout: 0.3 };
const decided = ['classes', 'tags', 'source_vocab_size', 'target_vocab_size', 'pad_id', 'bos_id', 'eos_id'];

/** What a short run computes, in numbers, and what it says of itself. */
async function run(settings, texts = { task: { name: 'reverse', pairs: 60 } }) {
  // Pairs that are too long for max_length are left out.
  const trainer = await Trainer.create({ ...texts, config: { ...config, ...settings }, shareWith: host });
  const numbers = [];
  for await (const { loss, gradientNorm } of trainer.run({ steps: 8, validateEvery: 8, reportEvery: 1 })) {
    numbers.push(loss, gradientNorm);
  }
  const { info } = trainer;
  trainer.dispose();
  return { numbers, info };
}

const host = await Trainer.create({ task: 'copy', config, threads: 1 });
const { numbers, info } = await run({});
test.after(() => host.dispose());

test('the same settings give the same numbers', async () => {
  assert.deepEqual((await run({})).numbers, numbers);
});

test('every setting is tested here', () => {
  const all = Object.keys({ ...info.config, ...info.training }).filter((key) => !decided.includes(key));
  assert.deepEqual(Object.keys({ ...others, ...ofRounding, ...ofMuon, ...ofEncoders, ...ofPieces }).sort(), all.sort());
});

for (const [key, values] of Object.entries(others)) {
  for (const value of [values].flat()) {
    test(`${key}: ${value}`, async () => {
      const other = await run({ [key]: value, ...(value === 'adam' && { weight_decay: 0 }) });
      assert.equal({ ...other.info.config, ...other.info.training }[key], value);
      assert.ok(other.numbers.every(Number.isFinite));
      assert.notDeepEqual(other.numbers, numbers);
    });
  }
}

test('muon_rate and muon_momentum are those of optimizer muon', async () => {
  const muon = await run({ optimizer: 'muon' });
  for (const [key, value] of Object.entries(ofMuon)) {
    assert.notDeepEqual((await run({ optimizer: 'muon', [key]: value })).numbers, muon.numbers, key);
  }
});

test('quantization_bits and quantization_start are those of quantization_aware', async () => {
  const rounded = await run({ quantization_aware: true });
  for (const [key, value] of Object.entries(ofRounding)) {
    assert.notDeepEqual((await run({ quantization_aware: true, [key]: value })).numbers, rounded.numbers, key);
  }
});

test('bpe_dropout splits pieces, differently for another seed', async () => {
  const pairs = Array.from({ length: 60 }, (_, i) => [`${i % 7} kleine Katzen`, `${i % 7} small cats`]);
  const texts = { pairs, tokenizer: { type: 'bpe', vocabSize: 60 }, validation: 8 };
  const losses = [];
  for (const settings of [{}, ofPieces, ofPieces, { ...ofPieces, seed: 2 }]) losses.push((await run(settings, texts)).numbers);
  assert.deepEqual(losses[1], losses[2]);
  for (const other of [losses[0], losses[3]]) assert.notDeepEqual(losses[1], other);
});

for (const [key, value] of Object.entries(ofEncoders)) {
  test(`${key} is refused for a translator`, async () => {
    await assert.rejects(run({ [key]: value }), ({ message }) => message.includes(key) && / (are for|is for) models /.test(message));
  });
}
