// Encoders on their way in and out: folders of BERT, whose scores are PyTorch's, and ONNX graphs, which ONNX Runtime runs.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import * as ort from 'onnxruntime-web';
import { drawnTexts, words } from '../drawn-texts.mjs';

const program = process.env.WASMFORMER_PROGRAM ?? join(import.meta.dirname, '../../build/native/wasmformer');
const fixtures = join(import.meta.dirname, '../fixtures/bert');
const folder = mkdtempSync(join(tmpdir(), 'wasmformer-'));
const path = (name) => join(folder, name);
after(() => rmSync(folder, { recursive: true, force: true }));

const run = (args, input) => spawnSync(program, args, { encoding: 'utf8', input });
function succeed(args, input) {
  const { status, stdout, stderr } = run(args, input);
  assert.equal(status, 0, `${args.join(' ')}: ${stderr}`);
  return stdout;
}
const json = (...file) => JSON.parse(readFileSync(join(...file), 'utf8'));
const expected = json(fixtures, 'expected.json');
const kinds = ['bert-classify', 'bert-tag', 'distilbert-classify', 'distilbert-tag'];
// Only texts that are a single line and not too long for the model.
const lines = expected.texts.map((text, i) => ({ text, i })).filter(({ text }) => text.trim() && !/[\n\r\0]/.test(text) && text.length < 200);

const softmax = (scores) => {
  const all = scores.map((score) => Math.exp(score - Math.max(...scores)));
  return all.map((value) => value / all.reduce((a, b) => a + b));
};
const chunks = (values, size) => Array.from({ length: values.length / size }, (_, i) => values.slice(i * size, (i + 1) * size));

/** The scores that ONNX Runtime gives to texts as a padded batch: one list per text, or per token. */
async function onnx(files, ids, output) {
  const session = await ort.InferenceSession.create(readFileSync(join(files, 'model.onnx')));
  const width = Math.max(...ids.map((text) => text.length));
  const { pad_token_id } = json(files, 'config.json');
  const padded = (of) => {
    const values = ids.flatMap((text) => Array.from({ length: width }, (_, i) => BigInt(of(text, i))));
    return new ort.Tensor('int64', BigInt64Array.from(values), [ids.length, width]);
  };
  const input_ids = padded((text, i) => text[i] ?? pad_token_id), attention_mask = padded((text, i) => Number(i < text.length));
  const results = await session.run({ input_ids, attention_mask });
  const { dims, data } = results[output];
  const rows = chunks([...data], dims.at(-1));
  return dims.length === 2 ? rows : ids.map((text, i) => rows.slice(i * width, i * width + text.length));
}

function near(found, wanted, limit, what) {
  assert.equal(found.length, wanted.length, what);
  const worst = Math.max(...found.map((value, i) => Math.abs(value - wanted[i])));
  assert.ok(worst < limit, `${what}: ${worst}`);
}

before(() => {
  for (const kind of kinds) succeed(['import-bert', join(fixtures, kind), '--output', path(kind)]);
});

for (const kind of kinds) {
  const { labels, tokens, logits } = expected[kind];
  test(`${kind}: the program's results match PyTorch's scores`, () => {
    const input = lines.map(({ text }) => text + '\n').join('');
    if (kind.endsWith('tag')) {
      const one = lines.filter(({ text }) => /^[a-zA-Z]+$/.test(text)); // texts that any program takes for a single word
      const found = succeed(['tag', '--model', path(kind)], one.map(({ text }) => `${text}\n`).join('')).trim().split('\n\n');
      // The word's first piece follows [CLS]. The tag is that piece's best label, as in Transformers.
      const score = (i, label) => chunks(logits[i], labels.length)[1][labels.indexOf(label)];
      const best = ({ i }) => labels.reduce((a, b) => (score(i, a) >= score(i, b) ? a : b));
      assert.deepEqual(found.map((line) => line.split('\t')), one.map((line) => [line.text, best(line)]));
      return;
    }
    // With int8, single probabilities of these random weights move by up to 0.3, most hardly at all.
    for (const [name, isExact, mostMean] of [[kind, true, 1e-4], [`${kind}.int8`, false, 0.04]]) {
      if (!isExact) succeed(['quantize', '--model', path(kind), '--output', path(name)]);
      const found = succeed(['classify', '--model', path(name)], input).trim().split('\n');
      assert.equal(found.length, lines.length);
      const differences = [];
      for (const [line, { i }] of found.map((line, i) => [line, lines[i]])) {
        const said = new Map(chunks(line.split('\t'), 2).map(([label, probability]) => [label, Number(probability)]));
        const own = labels.map((label) => said.get(label));
        if (isExact) near(own, softmax(logits[i]), 1e-3, expected.texts[i]);
        differences.push(...softmax(logits[i]).map((probability, j) => Math.abs(probability - own[j])));
      }
      const mean = differences.reduce((a, b) => a + b) / differences.length;
      assert.ok(mean < mostMean, `${name}: ${mean}`);
    }
  });

  test(`${kind} as ONNX: ONNX Runtime's scores match PyTorch's, and the tokenizer's files match the folder's`, async () => {
    const files = path(`${kind}.onnx`);
    succeed(['export-onnx', path(kind), '--output', files]);
    assert.equal(readFileSync(join(files, 'vocab.txt'), 'utf8'), readFileSync(join(fixtures, kind, 'vocab.txt'), 'utf8'));
    const [given, wanted] = [json(files, 'tokenizer_config.json'), json(fixtures, kind, 'tokenizer_config.json')];
    assert.equal(given.do_lower_case, wanted.do_lower_case);
    assert.deepEqual([given.unk_token, given.cls_token, given.sep_token, given.pad_token], ['[UNK]', '[CLS]', '[SEP]', '[PAD]']);
    const { id2label } = json(files, 'config.json');
    const order = labels.map((label) => Number(Object.keys(id2label).find((id) => id2label[id] === label)));
    const found = await onnx(files, tokens, 'logits');
    const inOrder = (scores) => order.map((id) => scores[id]);
    found.forEach((scores, i) => near(kind.endsWith('tag') ? scores.flatMap(inOrder) : inOrder(scores), logits[i], 1e-4, expected.texts[i]));
  });
}

// The words that drawn texts have, and the kinds of encoders that are trained here.
const examples = (count, seed) => drawnTexts(count, seed).map((text) => [text.includes('jazz') ? 'music' : 'other', text]);
const encoders = {
  joint: { files: ['labels', 'tags'], settings: { norm: 'post' } },
  several: { files: ['labels'], settings: { pooling: 'first', multi_label: true, pooler: 'tanh', embedding_norm: true, convolution_width: 5, activation: 'gelu', positions: 'learned' } },
};

for (const [name, { files, settings }] of Object.entries(encoders)) {
  test(`an encoder trained here, ${name}, as ONNX: ONNX Runtime gives the program's probabilities`, async () => {
    const texts = examples(120, 1);
    writeFileSync(path('labels'), texts.map(([label, text]) => `${label}\t${text.join(' ')}\n`).join(''));
    writeFileSync(path('tags'), texts.map(([, text]) => text.map((word, i) => `${word}\t${text[i - 1] === 'in' ? 'B-place' : 'O'}\n`).join('') + '\n').join(''));
    writeFileSync(path('words'), words.join(' ') + '\n');
    succeed(['tokenizer', '--input', path('words'), '--vocab-size', '10', '--type', 'word', '--output', path('words.model')]);
    const all = { d_model: 32, ffn_dim: 48, num_heads: 2, schedule: 'constant', learning_rate: 3e-3, ...settings };
    succeed(['train', ...files.flatMap((file) => [`--${file}`, path(file)]), '--validation', '20', '--tokenizer', path('words.model'),
      ...Object.entries(all).flatMap(([key, value]) => ['--set', `${key}=${value}`]), '--max-steps', '60', '--output', path(name)]);
    const model = path(`${name}/last.safetensors`), out = path(`${name}.onnx`);
    succeed(['export-onnx', model, '--output', out]);
    const input = texts.slice(0, 6).map(([, text]) => text.join(' ') + '\n').join('');
    // A file of ONNX has no scores of words, so it is compared with the encoder alone.
    const said = succeed(['classify', '--encoder-alone', '--model', model, '--attention', path('tokens.json')], input).trim().split('\n');
    const [vocabulary, { id2label, id2tag }] = [json(out, 'vocab.json'), json(out, 'config.json')];
    const ids = json(path('tokens.json')).map(({ tokens }) => tokens.map((piece) => vocabulary[piece]));
    const probabilities = (scores) => (settings.multi_label ? scores.map((score) => 1 / (1 + Math.exp(-score))) : softmax(scores));
    (await onnx(out, ids, 'logits')).forEach((scores, i) => {
      const own = new Map(chunks(said[i].split('\t'), 2).map(([label, probability]) => [label, Number(probability)]));
      near(probabilities(scores), Object.values(id2label).map((label) => own.get(label)), 1e-4, said[i]);
    });
    if (!files.includes('tags')) return;
    const tags = succeed(['tag', '--encoder-alone', '--model', model], input).trim().split('\n\n');
    const transitions = await onnx(out, ids, 'tag_transitions');
    assert.ok(transitions.flat().some((score) => Math.abs(score) > 1e-3));
    const sequences = (count) => (count === 0 ? [[]]
      : sequences(count - 1).flatMap((before) => transitions.map((_, tag) => [...before, tag])));
    (await onnx(out, ids, 'tag_logits')).forEach((tokens, i) => {
      const sum = (all) => all.reduce((total, tag, j) => total + tokens[j][tag] + (j > 0 ? transitions[all[j - 1]][tag] : 0), 0);
      const best = sequences(tokens.length - 1).reduce((a, b) => (sum(b) > sum(a) ? b : a)); // without the end
      assert.deepEqual(tags[i].split('\n').map((line) => line.split('\t')[1]), best.map((tag) => id2tag[tag]));
    });
  });
}

test('an imported model can learn other labels or tags, or to fill masks', () => {
  const texts = examples(60, 1).map(([label, text]) => [label, text.join(' '), text.map((word) => `${word}\tO\n`).join('').replace('O', 'B-x')]);
  writeFileSync(path('two'), texts.map(([label, text]) => `${label}\t${text}\n`).join(''));
  writeFileSync(path('tagged'), texts.map(([, , tags]) => `${tags}\n`).join(''));
  writeFileSync(path('plain'), texts.map(([, text]) => `${text}\n`).join(''));
  const tuned = (name) => path(`tuned ${name}/last.safetensors`);
  for (const [name, given] of [['two', '--labels'], ['tagged', '--tags'], ['plain', '--text']]) {
    succeed(['train', given, path(name), '--validation', '10', '--from', path('bert-classify'), '--max-steps', '2', '--output', path(`tuned ${name}`)]);
  }
  assert.match(succeed(['classify', '--model', tuned('two')], 'play jazz\n'), /^(music|other)\t/);
  assert.match(succeed(['tag', '--model', tuned('tagged')], 'play jazz\n'), /^play\t(O|B-x)\n/);
  assert.match(run(['tag', '--model', tuned('plain')], 'play\n').stderr, /it fills masks$/m);
});

test('unsupported folders are refused in one sentence', () => {
  const refuse = (pattern, change) => {
    const copy = path('bad');
    rmSync(copy, { recursive: true, force: true });
    cpSync(join(fixtures, 'bert-classify'), copy, { recursive: true });
    change(copy);
    const { status, stderr } = run(['import-bert', copy, '--output', path('none')]);
    assert.equal(status, 1);
    assert.match(stderr, pattern);
    assert.equal(stderr.trim().split('\n').length, 1);
    assert.ok(!readdirSync(folder).includes('none'));
  };
  const config = (change) => (copy) => writeFileSync(join(copy, 'config.json'), JSON.stringify({ ...json(copy, 'config.json'), ...change }));
  refuse(/bad: \[import\] the folder has no vocab\.txt$/m, (copy) => rmSync(join(copy, 'vocab.txt')));
  refuse(/\[bert\] vocab\.txt has \d+ pieces, but vocab_size of config\.json is 9$/m, config({ vocab_size: 9 }));
  refuse(/position_embedding_type is 'relative_key_query'; only 'absolute' can be read$/m, config({ position_embedding_type: 'relative_key_query' }));
  refuse(/the architecture in config\.json is 'BertForQuestionAnswering'; only BERT and DistilBERT/, config({ architectures: ['BertForQuestionAnswering'] }));
  refuse(/model_type 'roberta'; only 'marian', 'bert' and 'distilbert' can be read$/m, config({ model_type: 'roberta' }));
  refuse(/\[safetensors\]/, (copy) => {
    const file = join(copy, 'model.safetensors');
    writeFileSync(file, readFileSync(file).subarray(0, 20_000));
  });
});
