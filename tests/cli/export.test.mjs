// Models on their way out: ONNX Runtime and PyTorch choose the tokens that the program chooses, with its probabilities.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import * as ort from 'onnxruntime-web';

const program = process.env.WASMFORMER_PROGRAM ?? join(import.meta.dirname, '../../build/native/wasmformer');
const folder = mkdtempSync(join(tmpdir(), 'wasmformer-'));
const path = (name) => join(folder, name);
after(() => rmSync(folder, { recursive: true, force: true }));

const run = (args) => spawnSync(program, args, { encoding: 'utf8' });
function succeed(...args) {
  const { status, stderr } = run(args);
  assert.equal(status, 0, `${args.join(' ')}: ${stderr}`);
}
const json = (file) => JSON.parse(readFileSync(file, 'utf8'));

// Every choice of the config that an exporter has to look at; with `apart` each side has its own vocabulary.
const models = {
  paper: {},
  halves: { positions: 'sinusoidal_halves', activation: 'gelu', tie_embeddings: 'none', output_bias: false, scale_embedding: false, apart: true },
  learned: { positions: 'learned', activation: 'swish', tie_embeddings: 'target', apart: true },
  marian: { positions: 'sinusoidal_marian' },
  pre: { norm: 'pre', positions: 'learned', activation: 'swish', tie_embeddings: 'target', apart: true },
  dot: { attention: 'dot', norm: 'pre' },
  additive: { attention: 'additive', norm: 'pre' },
  bilinear: { attention: 'bilinear', norm: 'pre' },
  rotary: { positions: 'rotary', norm: 'pre' },
  recurrent: { decoder_self: 'ssru', positions: 'sinusoidal_marian' },
  unordered: { positions: 'none', norm: 'none', causal: false },
  counted: { positions: 'integers', residual: false },
  bare: { residual: false, norm: 'pre', causal: false },
};
const inFormOfMarian = ['paper', 'halves', 'learned', 'marian', 'int8'];

const words = ['null', 'eins', 'zwei', 'drei', 'vier', 'fünf', 'sechs', 'sieben', 'acht', 'neun'];
const pairs = (count, salt) => Array.from({ length: count }, (_, i) => {
  const digits = [...String((i * 7919 + salt) % 1000).padStart(3, '0')];
  return [digits.map((d) => words[d]).join(' '), digits.reverse().join(' ')];
});
const sources = ['eins zwei drei', 'null', 'neun neun acht sieben', 'fünf vier'];

/** What the program makes of `sources` greedily: ids by piece, and the log-probability of each target token. */
function translations(model, files) {
  succeed('translate', '--model', model, '--input', path('sources'), '--beam-size', '1', '--max-length', '12',
    '--attention', path('attention.json'), '--threads', '1');
  const source = json(join(files, 'vocab.json'));
  const target = existsSync(join(files, 'target_vocab.json')) ? json(join(files, 'target_vocab.json')) : source;
  return json(path('attention.json')).map((entry) => ({
    text: entry.text,
    source: entry.source_tokens.map((piece) => source[piece]),
    target: entry.target_tokens.map((piece) => target[piece]),
    logProbabilities: entry.log_probabilities,
  }));
}

before(() => {
  const tsv = (rows) => rows.map((row) => row.join('\t') + '\n').join('');
  writeFileSync(path('train.tsv'), tsv(pairs(300, 1)));
  writeFileSync(path('valid.tsv'), tsv(pairs(10, 5)));
  writeFileSync(path('sources'), sources.map((text) => text + '\n').join(''));
  for (const [name, side] of [['both', [0, 1]], ['source', [0]], ['target', [1]]]) {
    writeFileSync(path(`${name}.txt`), pairs(300, 1).flatMap((pair) => side.map((i) => pair[i] + '\n')).join(''));
    succeed('tokenizer', '--input', path(`${name}.txt`), '--type', 'char', '--vocab-size', '60', '--output', path(`${name}.model`));
  }
  for (const [name, { apart, ...config }] of Object.entries(models)) {
    const tokenizers = apart ? ['--tokenizer', path('source.model'), '--target-tokenizer', path('target.model')]
      : ['--tokenizer', path('both.model')];
    const settings = {
      d_model: 32, ffn_dim: 48, num_heads: 4, encoder_layers: 2, decoder_layers: 2, max_length: 64, warmup_steps: 30, ...config,
    };
    succeed('train', '--data', path('train.tsv'), '--valid-data', path('valid.tsv'), ...tokenizers, '--preset', 'tiny',
      ...Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`]),
      '--batch-tokens', '300', '--max-steps', '60', '--threads', '1', '--languages', 'de-en', '--output', path(name));
  }
  succeed('quantize', '--model', path('paper/best.safetensors'), '--output', path('int8.safetensors'));
});
// The program rounds activations too where weights are of int8.
const tolerance = (name) => (name === 'int8' ? 0.1 : 1e-4);
const modelFile = (name) => (name === 'int8' ? path('int8.safetensors') : path(`${name}/best.safetensors`));

const int64 = (values, dims) => new ort.Tensor('int64', BigInt64Array.from(values, BigInt), dims);

function logSoftmax(row, excluded) {
  const scores = Array.from(row, (score, id) => (excluded.includes(id) ? -Infinity : score));
  const max = Math.max(...scores);
  const logSum = max + Math.log(scores.reduce((sum, score) => sum + Math.exp(score - max), 0));
  return scores.map((score) => score - logSum);
}

test('positions and keys that the programs for ONNX files could not know are refused', () => {
  for (const [setting, reason] of [['positions=fractions', /positions is fractions; .*padded batches/], ['key_dim=3', /key_dim is 3; .*d_model \/ num_heads/]]) {
    succeed('train', '--data', path('train.tsv'), '--valid-data', path('valid.tsv'), '--tokenizer', path('both.model'), '--preset', 'tiny',
      '--set', 'd_model=16', '--set', 'ffn_dim=16', '--set', setting, '--max-steps', '1', '--threads', '1', '--output', path(setting));
    const { status, stderr } = run(['export-onnx', path(`${setting}/last.safetensors`), '--output', path('none')]);
    assert.notEqual(status, 0);
    assert.match(stderr, reason);
    assert.ok(!existsSync(path('none')));
  }
});

for (const name of [...Object.keys(models), 'int8']) {
  test(`ONNX Runtime, ${name}: a padded batch, token by token with caches and all at once`, async (t) => {
    const files = path(`onnx of ${name}`);
    succeed('export-onnx', modelFile(name), '--output', files);
    const config = json(join(files, 'config.json'));
    const expected = translations(modelFile(name), files);
    const open = (file) => ort.InferenceSession.create(readFileSync(join(files, file)));
    const [encoder, decoder] = [await open('encoder_model.onnx'), await open('decoder_model_merged.onnx')];

    const batch = expected.length;
    const width = Math.max(...expected.map(({ source }) => source.length));
    const padded = (of) => int64(expected.flatMap(({ source }) => Array.from({ length: width }, (_, i) => of(source, i))), [batch, width]);
    const mask = padded((source, i) => Number(i < source.length));
    const { last_hidden_state: memory } = await encoder.run({
      input_ids: padded((source, i) => source[i] ?? config.pad_token_id), attention_mask: mask });
    const [heads, d] = [config.decoder_attention_heads, config.d_model];
    const none = () => Object.fromEntries(decoder.inputNames.filter((input) => input.startsWith('past')).map((input) => [input,
      input.endsWith('state') ? new ort.Tensor('float32', new Float32Array(batch * d), [batch, d]) : new ort.Tensor('float32', [], [batch, heads, 0, d / heads])]));
    const decode = async (ids, past, first) => {
      const dims = [batch, ids[0].length];
      const places = decoder.inputNames.includes('position_ids') && { position_ids: int64(ids.flatMap((row) => row.map((_, i) => first + i)), dims) };
      const { logits, ...present } = await decoder.run({ input_ids: int64(ids.flat(), dims), ...places,
        encoder_hidden_states: memory, encoder_attention_mask: mask, ...past });
      return { logits, past: Object.fromEntries(Object.entries(present).map(([key, value]) => [key.replace('present', 'past_key_values'), value])) };
    };
    const excluded = config.bad_words_ids.flat();
    const row = (logits, i, place, places) => {
      const size = logits.dims[2];
      return logSoftmax(logits.data.subarray((i * places + place) * size, (i * places + place + 1) * size), excluded);
    };

    let ids = expected.map(() => [config.decoder_start_token_id]);
    let past = none();
    let worst = 0;
    const near = (found, wanted) => { worst = Math.max(worst, Math.abs(found - wanted)); };
    const length = Math.max(...expected.map(({ target }) => target.length));
    const greedy = expected.map(() => []);
    for (let place = 0; place < length; place++) {
      const step = await decode(ids, past, place);
      past = step.past;
      ids = expected.map(({ target, logProbabilities }, i) => {
        const scores = row(step.logits, i, 0, 1);
        const best = scores.indexOf(Math.max(...scores));
        if (place < target.length) {
          greedy[i].push(best);
          near(scores[best], logProbabilities[place]);
        }
        return [best];
      });
    }
    assert.deepEqual(greedy, expected.map(({ target }) => target));
    assert.ok(worst < tolerance(name), `log-probabilities differ by ${worst}`);

    const whole = await decode(expected.map(({ target }) => [config.decoder_start_token_id,
      ...Array.from({ length: length - 1 }, (_, i) => target[i] ?? config.pad_token_id)]), none(), 0);
    expected.forEach(({ target, logProbabilities }, i) => target.forEach((id, place) =>
      near(row(whole.logits, i, place, length)[id], logProbabilities[place])));
    assert.ok(worst < tolerance(name), `with all tokens at once, they differ by ${worst}`);
    t.diagnostic(`log-probabilities differ by ${worst.toExponential(1)} at most`);
  });
}

const python = ['python3', '/usr/bin/python3'].find((command) => spawnSync(command, ['-c', 'import torch']).status === 0);
const check = join(import.meta.dirname, 'export_check.py');
/** A forward pass of PyTorch over a model file of ours, or over a folder of Hugging Face. */
function comparePyTorch(kind, name, opened, expected) {
  const { status, stdout, stderr } = spawnSync(python, [check, kind, opened], { input: JSON.stringify(expected), encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  const { texts, worst } = JSON.parse(stdout);
  assert.deepEqual(texts, expected.map(({ target }) => target));
  assert.ok(worst < tolerance(name), `log-probabilities differ by ${worst}`);
}

for (const name of inFormOfMarian) {
  test(`a Hugging Face folder in PyTorch: ${name}`, { skip: !python && 'there is no PyTorch' }, () => {
    const files = path(`marian of ${name}`);
    succeed('export-marian', modelFile(name), '--output', files);
    comparePyTorch('marian', name, files, translations(modelFile(name), files));
  });
}

for (const name of ['paper', 'halves', 'learned', 'marian', 'pre', 'int8']) {
  test(`PyTorch layers with the weights of a model file: ${name}`, { skip: !python && 'there is no PyTorch' }, () => {
    const files = path(`onnx of ${name}`);
    comparePyTorch('layers', name, modelFile(name), translations(modelFile(name), files));
  });
}

test('a Hugging Face folder has all its files, in F16 on request', () => {
  succeed('export-marian', modelFile('halves'), '--output', path('half'), '--precision', 'f16');
  assert.deepEqual(readdirSync(path('half')).sort(), ['config.json', 'generation_config.json', 'model.safetensors', 'source.spm',
    'target.spm', 'target_vocab.json', 'tokenizer_config.json', 'vocab.json']);
  const bytes = readFileSync(path('half/model.safetensors'));
  const header = JSON.parse(bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE())).toString());
  const { __metadata__: metadata, ...tensors } = header;
  assert.deepEqual(metadata, { format: 'pt' });
  assert.ok(Object.values(tensors).every(({ dtype }) => dtype === 'F16'));
  const { source_lang, target_lang, separate_vocabs } = json(path('half/tokenizer_config.json'));
  assert.deepEqual([source_lang, target_lang, separate_vocabs], ['de', 'en', true]);
});

test('settings that Marian lacks are refused by their key', () => {
  for (const [name, pattern] of [['recurrent', /decoder_self is "ssru"; Hugging Face's Marian has "attention" only/], ['pre', /norm is "pre"; Hugging Face's Marian has "post" only/], ['dot', /norm is/]]) {
    const { status, stderr } = run(['export-marian', modelFile(name), '--output', path('refused')]);
    assert.equal(status, 1);
    assert.match(stderr, pattern);
    assert.equal(existsSync(path('refused')), false);
  }
});
