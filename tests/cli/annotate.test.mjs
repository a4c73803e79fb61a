// Classifying and tagging as a user does it: labelled files in, labels and scores out.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { drawnTexts, words } from '../drawn-texts.mjs';
import { path, refuse, run, succeed } from './trained.mjs';

// [label, words, tags]: the label says whether "jazz" is there; the word after "in" is a place.
const examples = (count, seed) => drawnTexts(count, seed).map((text) =>
  [text.includes('jazz') ? 'music' : 'other', text, text.map((_, j) => (text[j - 1] === 'in' ? 'B-place' : 'O'))]);
const labels = (rows) => rows.map(([label, text]) => `${label}\t${text.join(' ')}\n`).join('');
const conll = (rows) => rows.map(([, text, tags]) => text.map((word, i) => `${word}\t${tags[i]}\n`).join('') + '\n').join('');
const sizes = ['--set', 'd_model=32', '--set', 'ffn_dim=64', '--set', 'num_heads=2', '--set', 'dropout=0', '--set', 'schedule=constant', '--set', 'learning_rate=3e-3'];

before(() => {
  for (const [name, rows] of Object.entries({ train: examples(300, 1), valid: examples(40, 700) })) {
    writeFileSync(path(`${name}.labels`), labels(rows));
    writeFileSync(path(`${name}.conll`), conll(rows));
  }
  writeFileSync(path('words'), words.join(' ') + '\n');
  succeed('tokenizer', '--input', path('words'), '--vocab-size', '10', '--type', 'word', '--output', path('words.model'));
  succeed('train', '--labels', path('train.labels'), '--tags', path('train.conll'), '--valid-labels', path('valid.labels'),
    '--valid-tags', path('valid.conll'), '--tokenizer', path('words.model'), ...sizes, '--output', path('joint'), '--max-steps', '500');
});

test('one model can classify and tag, and reports scores for both', () => {
  const log = JSON.parse(readFileSync(path('joint/log.jsonl'), 'utf8').trim().split('\n').at(-1));
  assert.ok(log.accuracy > 90);
  const model = path('joint/best.safetensors');
  const scores = JSON.parse(succeed('evaluate', '--model', model, '--labels', path('valid.labels'), '--tags', path('valid.conll'), '--json').stdout);
  for (const key of ['accuracy', 'macro_f1', 'span_f1', 'tag_accuracy', 'frame_accuracy']) assert.ok(scores[key] > 90, `${key} ${scores[key]}`);
  const counts = Object.values(scores.confusion).flatMap((row) => Object.values(row));
  assert.equal(counts.reduce((a, b) => a + b), 40);
  assert.equal((scores.confusion.music.music + scores.confusion.other.other) / 0.4, scores.accuracy);

  writeFileSync(path('lines'), 'play jazz in rome\n\nnow in rome\n');
  const [first, second, third] = succeed('classify', '--model', model, '--input', path('lines')).stdout.split('\n').map((line) => line.split('\t'));
  assert.equal(first[0], 'music');
  assert.ok(Number(first[1]) > 0.9);
  assert.deepEqual(second, ['']);
  assert.equal(third[0], 'other');
  assert.equal(succeed('tag', '--model', model, '--input', path('lines')).stdout,
    'play\tO\njazz\tO\nin\tO\nrome\tB-place\n\n\nnow\tO\nin\tO\nrome\tB-place\n\n');
  // The label comes from attention: without any of its heads the encoder is less sure.
  const heads = ['0:0', '0:1', '1:0', '1:1'].map((head) => `encoder:${head}`).join(',');
  const masked = succeed('classify', '--model', model, '--input', path('lines'), '--mask-heads', heads).stdout;
  assert.notEqual(masked.split('\t')[1], first[1]);
  succeed('quantize', '--model', model, '--output', path('joint.int8'));
  const int8 = JSON.parse(succeed('evaluate', '--model', path('joint.int8'), '--labels', path('valid.labels'), '--tags', path('valid.conll'), '--json').stdout);
  assert.ok(int8.frame_accuracy > 85);
});

test('a line that is not UTF-8 costs only itself', () => {
  const input = Buffer.concat([Buffer.from('play\n'), Buffer.from([0xfc, 0x0a]), Buffer.from('now\n')]);
  const { status, stdout, stderr } = run(['tag', '--model', path('joint/best.safetensors')], { input });
  assert.equal(stdout, 'play\tO\n\n\nnow\tO\n\n');
  assert.equal(status, 1);
  assert.match(stderr, /line 2 is not UTF-8; it is taken as empty/);
});

test('words that are cut already are tagged as they are', () => {
  const model = path('joint/best.safetensors');
  writeFileSync(path('contraction'), "don't play\n");
  const words = (...more) => succeed('tag', '--model', model, '--input', path('contraction'), ...more).stdout.trim().split('\n').map((line) => line.split('\t')[0]);
  assert.deepEqual(words(), ['do', "n't", 'play']);
  assert.deepEqual(words('--no-split'), ["don't", 'play']);
});

test('the scores of words can be left out, in use and from the beginning', () => {
  const model = path('joint/best.safetensors');
  writeFileSync(path('one'), 'play jazz in rome\n');
  const classify = (...more) => succeed('classify', '--model', model, '--input', path('one'), ...more).stdout;
  assert.notEqual(classify(), classify('--encoder-alone'));
  const evaluate = (...more) => JSON.parse(succeed('evaluate', '--model', model, '--labels', path('valid.labels'), '--tags', path('valid.conll'), '--json', ...more).stdout);
  assert.ok(evaluate('--encoder-alone').accuracy > 80);
  const names = (run) => {
    const bytes = readFileSync(path(`${run}/best.safetensors`));
    return Object.keys(JSON.parse(bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE(0)))));
  };
  const ofWords = (name) => /^(tag_)?words\./.test(name);
  assert.equal(names('joint').filter(ofWords).length, 6);
  succeed('train', '--labels', path('train.labels'), '--validation', '40', '--tokenizer', path('words.model'), ...sizes, '--set', 'word_scores=false',
    '--output', path('alone'), '--max-steps', '5');
  assert.equal(names('alone').filter(ofWords).length, 0);
});

test('a file of texts that has none is refused, and the text of a label goes to the end of its line', () => {
  writeFileSync(path('empty'), '');
  const trainOn = (labels, ...more) => ['train', '--labels', labels, '--tokenizer', path('words.model'), ...sizes, ...more];
  refuse(/empty has no texts/, trainOn(path('train.labels'), '--valid-labels', path('empty'), '--max-steps', '1', '--output', path('none')));
  refuse(/empty has no texts/, trainOn(path('empty'), '--validation', '2', '--max-steps', '1', '--output', path('none')));
  succeed(...trainOn(path('train.labels'), '--validation', '40'), '--max-steps', '100', '--output', path('classes'));
  const accuracy = (space) => {
    writeFileSync(path('spaced'), `music\tplay${space}jazz\nother\tplay${space}rome\n`);
    return JSON.parse(succeed('evaluate', path('classes/best.safetensors'), '--labels', path('spaced'), '--json').stdout).accuracy;
  };
  assert.deepEqual([accuracy(' '), accuracy('\t ')], [100, 100]);
});

test('training ends by itself when validation has not been better for long', () => {
  const { stderr } = succeed('train', '--labels', path('train.labels'), '--validation', '40', '--tokenizer', path('words.model'), ...sizes,
    '--patience', '2', '--set', 'learning_rate=1e-30', '--output', path('patient'));
  assert.match(stderr, /ended, as validation was not better for [2-9] epochs/);
});

test('a classifier can start from the encoder of masked training or of a translator', () => {
  writeFileSync(path('mono'), examples(300, 3).map(([, text]) => text.join(' ') + '\n').join(''));
  succeed('train', '--task', 'masked', '--text', path('mono'), '--validation', '20', '--tokenizer', path('words.model'), ...sizes, '--output', path('masked'), '--max-steps', '100');
  const begin = (from, output, ...more) => succeed('train', '--labels', path('train.labels'), '--validation', '40', '--from', from,
    '--set', 'learning_rate=1e-3', '--output', path(output), '--max-steps', '60', ...more);
  begin(path('masked/best.safetensors'), 'tuned', '--set', 'freeze_steps=5');
  const { metadata } = JSON.parse(succeed('inspect', path('tuned/best.safetensors'), '--json').stdout);
  assert.ok(Number(metadata.valid_accuracy) > 90, metadata.valid_accuracy);
  begin(path('run/best.safetensors'), 'translator');
  // A frozen encoder stays as it is, although weights decay.
  begin(path('masked/last.safetensors'), 'frozen', '--set', 'freeze_steps=60', 'optimizer=adamw', 'weight_decay=0.1');
  const encoder = (run) => {
    const bytes = readFileSync(path(`${run}/last.safetensors`)), start = 8 + Number(bytes.readBigUInt64LE(0));
    return Object.entries(JSON.parse(bytes.subarray(8, start))).filter(([name]) => name.startsWith('model.'))
      .map(([name, { data_offsets: [from, to] }]) => [name, bytes.toString('hex', start + from, start + to)]);
  };
  assert.ok(encoder('frozen').length > 10);
  assert.deepEqual(encoder('frozen'), encoder('masked'));
});

test('an encoder that began with a preset is resumed by the same command, to the same bytes', () => {
  const joint = (output, ...more) => succeed('train', '--labels', path('train.labels'), '--tags', path('train.conll'), '--validation', '40',
    '--preset', 'tiny', '--tokenizer', path('words.model'), ...sizes, '--output', path(output), ...more);
  joint('at-once', '--max-steps', '12');
  joint('resumed', '--max-steps', '6');
  joint('resumed', '--max-steps', '12', '--resume');
  assert.ok(readFileSync(path('resumed/last.safetensors')).equals(readFileSync(path('at-once/last.safetensors'))));
});

test('an unknown label counts as wrong, in training and evaluation', () => {
  writeFileSync(path('new.labels'), 'music\tplay jazz\nweather\tnow\n');
  succeed('train', '--labels', path('train.labels'), '--valid-labels', path('new.labels'), '--tokenizer', path('words.model'), ...sizes,
    '--output', path('labels'), '--max-steps', '80');
  const { stdout } = succeed('evaluate', '--model', path('labels/last.safetensors'), '--labels', path('new.labels'), '--json');
  assert.ok(JSON.parse(stdout).accuracy <= 50);
});

test('a text longer than max_length is classified by its start, with a note; all its words are tagged', () => {
  const model = path('joint/best.safetensors');
  writeFileSync(path('long'), `now\n${'jazz '.repeat(600)}\n`);
  const { stdout, stderr } = succeed('classify', '--model', model, '--input', path('long'));
  assert.equal(stdout.split('\n').length, 3);
  assert.match(stderr, /^line 2 has more than 511 tokens; only the first ones were read\n$/);
  const tagged = succeed('tag', '--model', model, '--input', path('long'));
  assert.equal(tagged.stdout.split('\n').filter((line) => line.startsWith('jazz\t')).length, 600);
  assert.equal(tagged.stderr, '');
});

test('an I- tag without a preceding B- tag starts a span; empty lines between labeled texts are skipped', () => {
  const file = (name, text) => (writeFileSync(path(name), text), path(name));
  const bare = conll(examples(300, 1)).replaceAll('B-place', 'I-place');
  succeed('train', '--tags', file('bare.conll', bare), '--validation', '40', '--tokenizer', path('words.model'), ...sizes, '--output', path('bare'), '--max-steps', '300');
  const model = path('bare/best.safetensors');
  const kept = conll(examples(40, 700)).replaceAll('B-place', 'I-place');
  const scores = JSON.parse(succeed('evaluate', '--model', model, '--tags', file('kept.conll', kept), '--json').stdout);
  assert.ok(scores.span_f1 > 90);
  // As conlleval counts: I- after O begins a span, I- after I- continues it.
  const tags = kept.split('\n').map((line) => line.split('\t')[1]);
  assert.equal(scores.by_span.place.expected, tags.filter((tag, i) => tag === 'I-place' && tags[i - 1] !== 'I-place').length);
  const gaps = file('gaps.labels', labels(examples(40, 700)).replaceAll('\n', '\n\n'));
  const count = (name) => JSON.parse(succeed('evaluate', '--model', path('tuned/best.safetensors'), '--labels', name, '--json').stdout).texts;
  assert.equal(count(gaps), count(path('valid.labels')));
});

test('invalid training data and uses are refused in one sentence', () => {
  const bad = (name, text) => (writeFileSync(path(name), text), path(name));
  const train = (...args) => ['train', ...args, '--validation', '1', '--tokenizer', path('words.model'), '--output', path('bad'), '--max-steps', '1'];
  const model = path('joint/best.safetensors');
  refuse(/all texts have the same label/, train('--labels', bad('one', 'a\tplay\na\tjazz\na\tnow\n')));
  refuse(/line 2 of .*no-tab has 1 column/, train('--labels', bad('no-tab', 'a\tplay\nb\n')));
  refuse(/a label of 10000 bytes is too long/, train('--labels', bad('long', `${'x'.repeat(10000)}\tplay\nb\tjazz\nb\tnow\n`)));
  refuse(/line 2 of .*no-tag is not a token, a tab and a tag/, train('--tags', bad('no-tag', 'play\tO\njazz\n')));
  refuse(/3 labelled texts but 1 tagged/, train('--labels', bad('three', 'a\tplay\nb\tjazz\nb\tnow\n'), '--tags', bad('single', 'play\tO\n')));
  refuse(/train different models; give one kind/, train('--labels', path('train.labels'), '--source', path('words'), '--target', path('words')));
  refuse(/must go with --labels and --tags/, train('--labels', path('train.labels'), '--valid-tags', path('valid.conll')));
  refuse(/crf is for models with tags/, train('--labels', path('train.labels'), '--set', 'crf=true'));
  refuse(/augment is given, but it changes translations/, train('--labels', path('train.labels'), '--augment', 'join=1'));
  for (const ignored of [['--by-length'], ['--beam-size', '2'], ['--output', path('bad')]])
    refuse(/excludes/, ['evaluate', '--model', model, '--labels', path('valid.labels'), '--tags', path('valid.conll'), ...ignored]);
  refuse(/is an encoder-only model/, ['translate', '--model', model, '--input', path('words')]);
  refuse(/only translators can be exported/, ['export-marian', model, '--output', path('marian')]);
  refuse(/has no tags; it classifies/, ['tag', '--model', path('tuned/best.safetensors'), '--input', path('words')]);
  for (const command of ['classify', 'tag'])
    refuse(/--batch-tokens: must be a number greater than 0, not 0$/, [command, '--model', model, '--input', path('words'), '--batch-tokens', '0']);
  refuse(/has no labels of whole texts; it translates/, ['classify', '--model', path('run/best.safetensors'), '--input', path('words')]);
  refuse(/give --labels and --tags for what it has/, ['evaluate', '--model', model, '--labels', path('valid.labels')]);
  refuse(/word_dropout.* are for models that classify/, ['train', '--task', 'copy', '--set', 'word_dropout=0.1', '--output', path('bad'), '--max-steps', '1']);
  refuse(/bpe_dropout is for models that translate, classify or tag/, ['train', '--text', path('mono'), '--validation', '20', '--tokenizer', path('words.model'), ...sizes, '--output', path('bad'), '--max-steps', '1', '--set', 'bpe_dropout=0.1']);
  assert.equal(run(['classify', '--model', model, '--input', bad('empty', '')]).stdout, '');
});
