// Classifier, Tagger and their training: what the program finds with the same file, places in UTF-16, refusals.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Classifier, Tagger, Trainer, Translator } from '../../dist/index.js';
import { pipeline } from '../../dist/pipeline/index.js';
import { drawnTexts } from '../drawn-texts.mjs';
import { close, fixturePath } from './support.mjs';

const program = process.env.WASMFORMER_PROGRAM ?? join(import.meta.dirname, '../../build/native/wasmformer');
const folder = mkdtempSync(join(tmpdir(), 'wasmformer-'));
const path = (name) => join(folder, name);
const run = (...args) => {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return stdout;
};

/** [label, words, tags]: whether "jazz" is there; the words after "in" are a place. */
const examples = (count, seed) => drawnTexts(count, seed).map((text) => {
  const at = text.indexOf('in');
  const tags = text.map((_, j) => (at < 0 || j <= at ? 'O' : j === at + 1 ? 'B-place' : 'I-place'));
  return [text.includes('jazz') ? 'music' : 'other', text, tags];
});
const labelledOf = (rows) => rows.map(([label, text]) => [label, text.join(' ')]);
const taggedOf = (rows) => rows.map(([, text, tags]) => [text, tags]);
const tsvOf = (rows) => labelledOf(rows).map((row) => `${row.join('\t')}\n`).join('');
const conllOf = (rows) => rows.map(([, text, tags]) => `${text.map((word, i) => `${word}\t${tags[i]}\n`).join('')}\n`).join('');

const config = { d_model: 32, ffn_dim: 64, num_heads: 2, encoder_layers: 2, dropout: 0, schedule: 'constant', learning_rate: 3e-3 };
const [train, valid] = [examples(300, 1), examples(40, 700)];
const settings = { tokenizer: { type: 'word' }, config, threads: 1 };
const [labeled, validLabeled, tagged, validTagged] = [labelledOf(train), labelledOf(valid), taggedOf(train), taggedOf(valid)];
const joint = { labeled, tagged, validLabeled, validTagged, ...settings };

async function trained(trainer, options) {
  const events = [];
  for await (const event of trainer.run(options)) events.push(event);
  return events;
}

const texts = ['play jazz in rome', '', 'now in rome now', '🎵 jazz, 🎵 in rome!'];
let trainer, events, classifier, tagger;
before(async () => {
  trainer = await Trainer.create(joint);
  events = await trained(trainer, { steps: 400, reportEvery: 100, validateEvery: 400, samples: 2, attention: true, pinned: texts });
  const model = await trainer.save({ optimizer: false });
  writeFileSync(path('joint'), new Uint8Array(await model.arrayBuffer()));
  writeFileSync(path('lines'), texts.map((text) => `${text}\n`).join(''));
  classifier = await Classifier.load(model, { threads: 1 });
  tagger = await Tagger.load(path('joint'), { shareWith: classifier });
});
after(() => {
  for (const one of [trainer, classifier, tagger]) one?.dispose();
  rmSync(folder, { recursive: true, force: true });
});

test('a run reports accuracy and F1 as the program counts them', () => {
  writeFileSync(path('labels'), tsvOf(valid));
  writeFileSync(path('tags'), conllOf(valid));
  const its = JSON.parse(run('evaluate', '--model', path('joint'), '--labels', path('labels'), '--tags', path('tags'), '--json'));
  const { validation, annotated } = events.at(-1);
  for (const [mine, key] of Object.entries({
    accuracy: 'accuracy', macroF1: 'macro_f1', tagAccuracy: 'tag_accuracy', spanF1: 'span_f1', frameAccuracy: 'frame_accuracy',
  })) {
    assert.ok(validation[mine] > 85, `${mine} ${validation[mine]}`);
    close(validation[mine], its[key], 1e-9);
  }
  assert.deepEqual([validation.isBest, validation.bleu, validation.samples.length], [true, undefined, 0]);
  const [{ source, reference, annotation }] = validation.annotated;
  assert.deepEqual([source, reference], [valid[0][1].join(' '), `${valid[0][0]}\t${valid[0][2].join(' ')}`]);
  assert.deepEqual(annotation.tokens.map(({ text }) => text), valid[0][1]);
  assert.equal(annotation.attention.encoder.columns, annotation.sourceTokens.length);
  assert.equal(annotated.length, texts.length);
  assert.deepEqual([trainer.info.classes, trainer.info.tags], [['music', 'other'], ['B-place', 'I-place', 'O']]);
  assert.deepEqual([trainer.info.trainPairs, trainer.info.validationPairs], [300, 40]);
});

test("labels, probabilities and tags match the program's", async () => {
  const lines = run('classify', '--model', path('joint'), '--input', path('lines')).split('\n').map((line) => line.split('\t'));
  const classified = await classifier.classify(texts);
  for (const [i, { labels, isTruncated, isCut }] of classified.entries()) {
    assert.deepEqual([isTruncated, isCut], [false, false]); // the second is its old name
    assert.deepEqual(labels.map(({ label }) => label), lines[i].filter((_, j) => texts[i] && j % 2 === 0));
    labels.forEach(({ probability }, j) => close(probability, Number(lines[i][2 * j + 1]), 2e-4));
  }
  assert.equal(classified[0].labels[0].label, 'music');
  const found = await tagger.tag(texts);
  const conll = found.map(({ tokens }) => `${tokens.map(({ text, tag }) => `${text}\t${tag}\n`).join('')}\n`).join('');
  assert.equal(conll, run('tag', '--model', path('joint'), '--input', path('lines')));
  // Both calls give what the model finds; so does the trainer, with the weights of the file.
  assert.deepEqual(found[0].labels, classified[0].labels);
  const { labels } = await trainer.classify(texts[0]);
  labels.forEach(({ probability }, i) => close(probability, classified[0].labels[i].probability, 1e-5));
  const starts = (taggings) => taggings.map(({ spans }) => spans.map(({ start }) => start));
  assert.deepEqual(starts(await trainer.tag(texts)), starts(found));
});

test('tokens and spans have their positions in the text', async () => {
  const found = await tagger.tag(texts);
  for (const [i, { tokens, spans }] of found.entries()) {
    for (const { text, start, end } of [...tokens, ...spans]) assert.equal(texts[i].slice(start, end), text);
    for (const { probability } of [...tokens, ...spans]) assert.ok(probability > 0 && probability <= 1);
  }
  const [first, empty, , last] = found;
  assert.deepEqual(first.spans.map(({ type, text, start, end }) => [type, text, start, end]), [['place', 'rome', 13, 17]]);
  assert.deepEqual([empty.tokens, empty.spans, empty.sourceTokens, empty.labels], [[], [], [], []]);
  assert.deepEqual(last.tokens.slice(0, 4).map(({ text, start }) => [text, start]), [['🎵', 0], ['jazz', 3], [',', 7], ['🎵', 9]]);
  const mean = (tokens) => tokens.reduce((sum, { probability }) => sum + probability, 0) / tokens.length;
  const [span] = last.spans;
  close(span.probability, mean(last.tokens.filter(({ start, end }) => start >= span.start && end <= span.end)), 1e-12);
});

test('every option does what it says', async () => {
  const [text] = texts;
  const { labels } = await classifier.classify(text);
  assert.deepEqual((await classifier.classify(text, { topLabels: 1 })).labels, labels.slice(0, 1));
  assert.deepEqual((await classifier.classify([text], { topLabels: 1 }))[0].labels, labels.slice(0, 1));
  const { attention: { encoder }, sourceTokens } = await classifier.classify(text, { attention: true });
  assert.deepEqual([encoder.layers, encoder.heads, encoder.rows], [2, 2, sourceTokens.length]);
  close(encoder.map(1, 1).slice(0, encoder.columns).reduce((a, b) => a + b), 1, 1e-5);
  const maskedHeads = [0, 1].flatMap((layer) => [0, 1].map((head) => ({ attention: 'encoder', layer, head })));
  assert.notDeepEqual((await classifier.classify(text, { maskedHeads })).labels, labels);
  assert.deepEqual((await tagger.tag('jazz, now', { split: false })).tokens.map(({ text }) => text), ['jazz,', 'now']);
  assert.equal((await tagger.tag('jazz, now')).tokens.length, 3);
  for (const [options, message] of [
    [{ topLabel: 1 }, /^\[classify\] unknown option 'topLabel'; did you mean 'topLabels'\?/],
    [{ topLabels: -1 }, /^\[classify\] topLabels must be a whole number of at least 0, not -1/],
    [{ maskedHeads: [{ attention: 'cross', layer: 0, head: 0 }] }, /layer 0, head 0 is not in 0 layers/],
    [{ signal: 1 }, /^\[classify\] signal must be an AbortSignal/],
  ]) {
    await assert.rejects(classifier.classify(text, options), { message });
  }
  await assert.rejects(tagger.tag(['a', 3]), { message: '[tag] text 2 must be a string, not 3' });
  await assert.rejects(trainer.translate('jazz'), { message: /this is an encoder-only model/ });
});

test('a call can be aborted, and a disposed model is refused', async () => {
  const stop = new AbortController();
  const call = classifier.classify(Array.from({ length: 2000 }, () => 'play some jazz'), { signal: stop.signal });
  stop.abort(new Error('enough'));
  await assert.rejects(call, { message: 'enough' });
  const other = await Classifier.load(path('joint'), { shareWith: trainer });
  other.dispose();
  await assert.rejects(other.classify('jazz'), { message: '[classifier] it has been disposed of' });
  assert.equal((await classifier.classify('jazz')).labels.length, 2);
});

test('texts with thousands of different characters train by default', async () => {
  const characters = Array.from({ length: 2500 }, (_, i) => String.fromCodePoint(0x4E00 + i));
  const label = (i) => (i % 2 ? 'odd' : 'even');
  const chinese = Array.from({ length: 500 }, (_, i) => [label(i), characters.slice(5 * i, 5 * i + 5).join('')]);
  const { tokenizer: _, ...byDefault } = settings;
  const trainer = await Trainer.create({ labeled: chinese, validation: 20, ...byDefault });
  assert.ok(trainer.info.config.source_vocab_size > 2400);
  const [event] = await trained(trainer, { steps: 2 });
  assert.ok(event.loss > 0);
  trainer.dispose();

  // A text with fewer pieces than the default gives as many as it has.
  const few = await Trainer.create({ labelled: chinese.slice(0, 20), validation: 5, ...byDefault });
  assert.ok(few.info.config.source_vocab_size < 500);
  few.dispose();
});

test('a model of another kind is refused in one sentence', async () => {
  const one = await Trainer.create({ labeled, validation: 10, ...settings });
  const only = await one.save({ optimizer: false });
  for (const [load, message] of [
    [() => Classifier.load(fixturePath, { threads: 1 }), /tiny-de-en\.safetensors: \[load\] this model does not classify; it translates$/],
    [() => Tagger.load(fixturePath, { threads: 1 }), /does not tag; it translates$/],
    [() => Translator.load(path('joint'), { threads: 1 }), /does not translate; it classifies and tags$/],
    [() => Tagger.load(only, { threads: 1 }), /does not tag; it classifies$/],
    [() => one.tag('jazz'), /^\[tag\] this model does not tag; it classifies$/],
    [() => one.classify('jazz', { split: false }), /^\[classify\] split is false, but this model does not split texts$/],
    [() => one.evaluate([['jazz', 'music']]), /this is an encoder-only model/],
  ]) {
    await assert.rejects(load, { message });
  }
  one.dispose();
});

test('files give the same as arrays, and a saved run continues with the same numbers', async () => {
  const losses = (events) => events.map(({ loss, validation }) => [loss, validation?.accuracy]);
  const steps = { steps: 6, reportEvery: 1, validateEvery: 3 };
  const asArrays = await Trainer.create(joint);
  const files = { labelled: tsvOf(train), tagged: conllOf(train), validLabelled: tsvOf(valid), validTagged: conllOf(valid) };
  const asFiles = await Trainer.create({ ...files, ...settings });
  const [first, second] = [losses(await trained(asArrays, steps)), losses(await trained(asFiles, steps))];
  assert.deepEqual(first, second);
  const again = await Trainer.resume(await asArrays.save(), { threads: 1 });
  assert.deepEqual(again.info.classes, ['music', 'other']);
  assert.deepEqual(losses(await trained(again, steps)), losses(await trained(asFiles, steps)));
  for (const one of [asArrays, asFiles, again]) one.dispose();
});

test('an encoder can start from masked training or a translator', async () => {
  const mono = train.map(([, text]) => text.join(' '));
  const masked = await Trainer.create({ text: `${mono.join('\n')}\n\n`, validation: 20, ...settings });
  const { validation } = (await trained(masked, { steps: 20 })).at(-1);
  assert.ok(validation.loss > 0);
  assert.deepEqual([validation.accuracy, validation.samples, masked.info.trainPairs], [undefined, [], 280]);
  const file = await masked.save({ optimizer: false });
  await assert.rejects(Translator.load(file, { threads: 1 }), { message: /does not translate; it fills masks$/ });
  masked.dispose();
  for (const from of [file, fixturePath]) {
    const tuned = await Trainer.create({ from, labeled, validation: 20, config: { freeze_steps: 2, learning_rate: 1e-3 }, threads: 1 });
    const events = await trained(tuned, { steps: 30 });
    assert.ok(events.at(-1).loss < Math.log(2) * 1.2);
    assert.deepEqual(tuned.info.classes, ['music', 'other']);
    tuned.dispose();
  }
});

test('a text may have several labels, or none', async () => {
  const several = examples(200, 5).map(([, text]) => [['jazz', 'rome'].filter((word) => text.includes(word)), text.join(' ')]);
  const learner = await Trainer.create({ labeled: several, validation: 20, ...settings, config: { ...config, multi_label: true } });
  await trained(learner, { steps: 200 });
  const [both, none] = await learner.classify(['play jazz in rome', 'play some']);
  assert.ok(both.labels.every(({ probability }) => probability > 0.5) && none.labels.every(({ probability }) => probability < 0.5));
  learner.dispose();
});

const pairs = [['ein Hund', 'a dog'], ['eine Katze', 'a cat']];
for (const [options, message] of [
  [{ labeled, pairs }, '[train] sentence pairs, labeled or tagged texts, and text train different models; give one kind'],
  [{ labeled, mono: ['a'] }, 'give one kind'],
  [{ text: ['a'], mono: ['a'] }, 'mono is the old name of text'],
  [{ labeled, task: 'copy' }, 'choose one of them'],
  [{ labeled, tagged: tagged.slice(1) }, 'there are 300 labelled texts but 299 tagged ones'],
  [{ labeled, validTagged }, 'validLabeled with labeled'],
  [{ labeled, validation: pairs }, 'validLabeled with labeled'],
  [{ labeled: [] }, 'is needed'],
  [{ labeled: 3 }, '[train] labeled must be an array of examples, or the text of a file, not 3'],
  [{ labeled: [['a', 'b'], ['c']] }, '[train] labeled[1] must be a label and its text'],
  [{ labeled: [[['a', 'b'], 'text']] }, 'need config.multi_label'],
  [{ labeled: [['', 'text']] }, 'labeled[0] must be'],
  [{ labeled: 'a\ttext\nb\n' }, 'line 2 of labeled has 1 column'],
  [{ labeled: labeled.filter(([label]) => label === 'music') }, 'all texts have the same label'],
  [{ labeled: [['x'.repeat(10_000), 'play'], ...labeled] }, 'a label of 10000 bytes is too long'],
  [{ tagged: [[[''], ['B-place']]] }, '[train] tagged[0] must be words and as many tags, none of them empty, not [[""]'],
  [{ tagged: [[['a', 'b'], ['O']]] }, 'tagged[0] must be words and as many tags'],
  [{ tagged: 'play\tO\njazz\n' }, 'line 2 of tagged is not a token, a tab and a tag'],
  [{ tagged, validTagged: 'play\n' }, 'line 1 of validTagged is not'],
  [{ text: [1] }, '[train] text must be an array of texts, or the text of a file, not an array'],
  [{ labeled, augment: { join: 1 } }, 'augment is given, but it changes translations'],
  [{ labeled, config: { decoder_layers: 1 } }, 'an encoder has no decoder'],
]) {
  test(`refused: ${message}`, () =>
    assert.rejects(Trainer.create({ ...settings, ...options }), ({ message: found }) => found.includes(message) || assert.fail(found)));
}

test('pipelines return results in the shape of Transformers.js', async () => {
  const classify = await pipeline('text-classification', path('joint'), { shareWith: classifier });
  const { labels } = await classifier.classify(texts[0]);
  const all = labels.map(({ label, probability }) => ({ label, score: probability }));
  assert.deepEqual(await classify(texts[0]), all.slice(0, 1));
  assert.deepEqual(await classify([texts[0]]), all.slice(0, 1));
  assert.deepEqual(await classify(texts[0], { top_k: null }), all);
  assert.deepEqual(await classify([texts[0]], { top_k: 2 }), [all]);
  await assert.rejects(classify(texts), { message: '[pipeline] text 2 is empty, so it has no label' });
  await assert.rejects(classify('a', { top_k: 0 }), { message: /^\[pipeline\] top_k must be/ });
  const tag = await pipeline('token-classification', path('joint'), { shareWith: classifier });
  const [{ probability: score }] = (await tagger.tag(texts[0])).spans;
  const rome = { score, word: 'rome', start: 13, end: 17 };
  assert.deepEqual(await tag(texts[0]), [{ entity: 'B-place', index: 4, ...rome }]);
  assert.deepEqual(await tag([texts[0]], { aggregation_strategy: 'simple' }), [[{ entity_group: 'place', ...rome }]]);
  assert.deepEqual((await tag(texts[0], { ignore_labels: ['B-place'] })).map(({ word }) => word), ['play', 'jazz', 'in']);
  await assert.rejects(tag('a', { aggregation_strategy: 'max' }), { message: /aggregation_strategy must be 'none' or 'simple'/ });
  await assert.rejects(tag('a', { aggregation_strategy: 'simple', ignore_labels: [] }), { message: /ignore_labels applies to single words/ });
  await assert.rejects(pipeline('text-classification', fixturePath, { threads: 1 }), { message: /does not classify; it translates/ });
  for (const one of [classify, tag]) await one.dispose();
});
