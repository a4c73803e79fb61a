// Training in the package: runs, events, the same numbers whatever happens, fine-tuning, refusals.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Trainer, Translator } from '../../dist/index.js';
import { close, fixtureBytes, fixturePath, sentences } from './support.mjs';

const config = { d_model: 32, ffn_dim: 64, num_heads: 2, encoder_layers: 1, decoder_layers: 1, batch_tokens: 256 };
const small = { task: { name: 'reverse', pairs: 200 }, config, threads: 1 };
const pairs = [
  ['ein Hund', 'a dog'],
  ['eine Katze', 'a cat'],
  ['ein Haus', 'a house'],
  ['zwei Hunde', 'two dogs'],
];
const byCharacters = { pairs, validation: pairs, tokenizer: { type: 'char' }, config, threads: 1 };

/** The events of a run; `body` gets the trainer afterwards. */
async function trained(trainer, options, body = () => {}) {
  const events = [];
  try {
    for await (const event of trainer.run(options)) events.push(event);
    await body(trainer, events);
    return events;
  } finally {
    trainer.dispose();
  }
}

const losses = (events) => events.map(({ step, loss, validation }) => [step, loss, validation?.loss]);

test('a run tells what it is about, and how it goes', async () => {
  const trainer = await Trainer.create({ ...small, languages: 'a-z', metadata: { licence: 'none' } });
  const { info } = trainer;
  assert.equal(info.config.d_model, 32);
  assert.equal(info.training.optimizer, 'adam');
  assert.deepEqual([info.trainPairs, info.validationPairs, info.skippedPairs], [200, 200, 0]);
  assert.equal(info.task, 'reverse');
  assert.equal(info.languages, 'a-z');
  assert.deepEqual(info.metadata, { licence: 'none' });
  assert.deepEqual([info.step, info.epoch], [0, 0]);
  const begin = performance.now();
  const options = { steps: 30, reportEvery: 12, validateEvery: 20, samples: 2, attention: true };
  await trained(trainer, options, (_, events) => {
    assert.deepEqual(events.map(({ step }) => step), [12, 20, 24, 30]);
    assert.deepEqual(events.map(({ validation }) => validation !== undefined), [false, true, false, true]);
    assert.ok(events[3].loss < events[0].loss);
    assert.ok(events[3].seconds > 0 && events[3].seconds < (performance.now() - begin) / 1000);
    const { batchesPerEpoch } = info;
    for (const event of events) {
      close(event.epoch, event.step / batchesPerEpoch, 1e-9);
      assert.ok(event.learningRate > 0 && event.gradientNorm > 0 && event.tokensPerSecond > 0);
      assert.ok(event.memoryBytes > 1e6 && event.memoryBytes < 1e8);
    }
    const [{ source, reference, translation }] = events[3].validation.samples;
    const { cross } = translation.attention;
    assert.equal(events[3].validation.samples.length, 2);
    assert.equal([...source].reverse().join(''), reference);
    assert.equal(cross.columns, translation.sourceTokens.length);
    assert.equal(cross.map(0, 1).length, cross.rows * cross.columns);
  });
});

test('pinned texts are translated by the weights of their step', async () => {
  const trainer = await Trainer.create(small);
  await trained(trainer, { steps: 25, reportEvery: 5, pinned: ['abc', 'wasm'], pinEvery: 10 }, async (_, events) => {
    const seen = events.filter(({ pinned }) => pinned).map(({ step, pinned }) => [step, pinned.length]);
    assert.deepEqual(seen, [[10, 2], [20, 2], [25, 2]]);
    const { pinned } = events.at(-1);
    const [now] = await trainer.translate(['wasm'], { beamSize: 1, attention: true });
    assert.equal(pinned[1].text, now.text);
    assert.deepEqual(pinned[1].attention.cross.data, now.attention.cross.data);
  });
});

test('the same seed gives the same numbers: left and gone on, saved and resumed, with one thread or two', async () => {
  const options = { reportEvery: 1, validateEvery: 15 };
  const whole = losses(await trained(await Trainer.create(small), { steps: 40, ...options }));
  const other = losses(await trained(await Trainer.create({ ...small, seed: 2 }), { steps: 2, ...options }));
  assert.notEqual(other[0][1], whole[0][1]);

  const threads = losses(await trained(await Trainer.create({ ...small, threads: 2 }), { steps: 40, ...options }));
  assert.deepEqual(threads, whole);

  const first = await Trainer.create(small);
  const seen = [];
  for await (const event of first.run(options)) {
    seen.push(event);
    if (event.step >= 10) break;
  }
  const file = await first.save({ metadata: { 'run.note': 'at about ten' } });
  const reached = (await trained(first, { steps: 1, ...options })).at(-1).step - 1; // the loop may have been left late
  assert.ok(reached >= 10 && reached <= 15, `step ${reached}`);

  const again = await Trainer.resume(file, { threads: 1 });
  assert.equal(again.info.step, reached);
  assert.equal(again.info.metadata['run.note'], 'at about ten');
  const rest = losses(await trained(again, { steps: 40 - reached, ...options }));
  assert.deepEqual(losses(seen), whole.slice(0, seen.length));
  assert.deepEqual(rest.filter(([step]) => step > reached + 1), whole.filter(([step]) => step > reached + 1));
});

test('runs that are interrupted validate when one run would', async () => {
  const options = { reportEvery: 5 };
  const whole = losses(await trained(await Trainer.create(small), { steps: 50, ...options }));
  const steps = whole.filter(([, , loss]) => loss !== undefined).map(([step]) => step);
  assert.ok(steps.length > 2 && !steps.includes(15), `it validates after steps ${steps}`);

  const first = await Trainer.create(small);
  const begun = [];
  for await (const event of first.run({ steps: 15, ...options })) begun.push(event);
  const file = await first.save();
  const expected = whole.filter(([step]) => step > 15);
  assert.deepEqual(losses(await trained(first, { steps: 35, ...options })), expected);
  assert.deepEqual(losses(await trained(await Trainer.resume(file, { threads: 1 }), { steps: 35, ...options })), expected);
  assert.notEqual(begun.at(-1).validation, undefined, 'a run ends with one');
  delete begun.at(-1).validation;
  assert.deepEqual(losses(begun), whole.filter(([step]) => step <= 15));
});

test('pairs travel with a saved run, unless it is told not to take them', async () => {
  const trainer = await Trainer.create(byCharacters);
  await trained(trainer, { steps: 3 }, async () => {
    const file = await trainer.save();
    const again = await Trainer.resume(file, { threads: 1 });
    assert.equal(again.info.trainPairs, 4);
    await trained(again, { steps: 1 }, (_, [event]) => assert.equal(event.step, 4));

    const bare = await trainer.save({ data: false });
    assert.ok(bare.size < file.size);
    await assert.rejects(Trainer.resume(bare), { message: /the checkpoint holds no sentence pairs; give those/ });
    const { pairs, validation } = byCharacters;
    const given = await Trainer.resume(bare, { pairs, validation, threads: 1 });
    given.dispose();
    await assert.rejects(Trainer.resume(bare, { from: file }), { message: /^\[resume\] unknown option 'from'/ });
    await assert.rejects(Trainer.resume(bare, { task: 'copy' }), { message: /on texts, not a task/ });
    const others = [...pairs.slice(1), ['ein Baum', 'a tree']];
    await assert.rejects(Trainer.resume(bare, { pairs: others, validation }), { message: /trained on other pairs/ });
    await assert.rejects(Trainer.resume(await trainer.save({ optimizer: false })), {
      message: /holds no state of a training run/,
    });
  });
});

test('a run of another seed is resumed on the pairs that it was split into', async () => {
  const given = { pairs: Array.from({ length: 40 }, (_, i) => [`eins ${i}`, `one ${i}`]), validation: 10 };
  const trainer = await Trainer.create({ ...given, tokenizer: { type: 'char' }, config, seed: 7, threads: 1 });
  await trained(trainer, { steps: 2 }, async () => {
    const again = await Trainer.resume(await trainer.save({ data: false }), { ...given, threads: 1 });
    assert.deepEqual([again.info.step, again.info.training.seed, again.info.validationPairs], [2, 7, 10]);
    again.dispose();
  });
});

test('a checkpoint tells its step, and of a task its own name is enough', async () => {
  const trainer = await Trainer.create(small);
  await trained(trainer, { steps: 3 }, async () => {
    const { file, step } = await trainer.checkpoint();
    assert.equal(step, 3);
    const again = await Trainer.resume(file, { task: small.task, threads: 1 });
    assert.equal(again.info.step, 3);
    again.dispose();
    await assert.rejects(Trainer.resume(file, { task: { name: 'copy', pairs: 200 } }), { message: /trained on the task reverse, 200 pairs; repeat/ });
  });
});

test('learns pairs by heart, translates and evaluates on the way, and opens as a model', async () => {
  const trainer = await Trainer.create({ ...byCharacters, config: { ...config, dropout: 0, label_smoothing: 0 } });
  await trained(trainer, { steps: 250, reportEvery: 50 }, async (_, events) => {
    const last = events.at(-1).validation;
    assert.equal(last.exactMatch, 100);
    assert.equal(last.isBest, true);
    const { bleu, exactMatch, translations } = await trainer.evaluate([...pairs, ['ein Hund', 'a horse']], { beamSize: 2 });
    assert.equal(exactMatch, 80);
    assert.ok(bleu < 100);
    assert.equal(translations[4], 'a dog');
    const model = await trainer.save({ optimizer: false, metadata: { corpus: 'four pairs' } });
    const translator = await Translator.load(model);
    assert.equal((await translator.translate('zwei Hunde')).text, 'two dogs');
    assert.equal(translator.info.metadata.corpus, 'four pairs');
    assert.equal('run.texts' in translator.info.metadata, false);
    translator.dispose();
  });
});

test('evaluate searches as it is told', async () => {
  const trainer = await Trainer.create({ pairs, validation: pairs, from: fixtureBytes(), threads: 1 });
  const translated = async (options) => (await trainer.evaluate(sentences.map((text) => [text, '-']), options)).translations;
  const four = await translated({ beamSize: 4 });
  assert.notDeepEqual(await translated({}), four);
  assert.deepEqual(await translated({ beamSize: 1 }), await translated({}));
  assert.notDeepEqual(await translated({ beamSize: 4, lengthPenalty: 5 }), four);
  trainer.dispose();
});

test('while it trains, others get their answers between two steps', async () => {
  const trainer = await Trainer.create(small);
  let asked;
  for await (const { step, learningRate } of trainer.run({ reportEvery: 10 })) {
    if (learningRate === 5e-4) break;
    assert.ok(step < 5000, 'the rate never changed');
    if (asked) continue;
    asked = [trainer.translate('abc', { beamSize: 1 }), trainer.evaluate([['abc', 'cba']]), trainer.save()];
    await assert.rejects(trainer.run({ steps: 1 }).next(), { message: /run\(\) is already in progress/ });
    await assert.rejects(trainer.change({ batch_tokens: 7 }), { message: /and nothing else/ });
    await assert.rejects(trainer.change({ rate: 7 }), { message: /unknown option 'rate'/ });
    asked.push(trainer.change({ schedule: 'constant', learning_rate: 5e-4, warmup_steps: 0 }));
  }
  const [translation, evaluation, file, changed] = await Promise.all(asked);
  assert.equal(typeof translation.text, 'string');
  assert.equal(evaluation.translations.length, 1);
  assert.equal(changed.learning_rate, 5e-4);
  trainer.dispose();
  (await Trainer.resume(file)).dispose();
});

test('aborting ends a run within a step, and it can go on', async () => {
  const trainer = await Trainer.create(small);
  const controller = new AbortController();
  const run = trainer.run({ reportEvery: 1, signal: controller.signal });
  await run.next();
  controller.abort(new Error('enough'));
  await assert.rejects(async () => {
    for await (const _ of run);
  }, { message: 'enough' });
  await assert.rejects(trainer.run({ signal: AbortSignal.abort(new Error('before')) }).next(), { message: 'before' });
  await trained(trainer, { steps: 2 }, (_, [event]) => assert.ok(event.step < 30));
  await assert.rejects(trainer.run().next(), { message: '[trainer] it has been disposed of' });
});

test('who is slow to take events holds training up', async () => {
  const trainer = await Trainer.create(small);
  const run = trainer.run({ reportEvery: 1 });
  const first = (await run.next()).value.step;
  await trainer.translate('abc'.repeat(20)); // time for many steps
  await new Promise((resolve) => setTimeout(resolve, 300));
  await run.return();
  await trained(trainer, { steps: 1 }, (_, [event]) => assert.ok(event.step <= first + 6));
});

test('an answer does not wait for the steps between two events', async () => {
  const trainer = await Trainer.create(small);
  const seen = [];
  let answer;
  for await (const { step } of trainer.run({ steps: 1600, reportEvery: 400, validateEvery: 1600 })) {
    seen.push(step);
    answer ??= trainer.translate('abc', { beamSize: 1 }).then(() => seen.push('answer'));
  }
  assert.deepEqual(seen, [400, 'answer', 800, 1200, 1600]);
  trainer.dispose();
});

test('a file that cannot be sent to the worker is refused', async () => {
  const tokenizer = new Uint8Array(8);
  structuredClone(tokenizer, { transfer: [tokenizer.buffer] });
  await assert.rejects(Trainer.create({ ...byCharacters, tokenizer }), Error);
});

test('pairs and metadata may be Proxies, as frameworks make them', async () => {
  const pairs = new Proxy([['a', 'b'], ['c', 'd'], ['e', 'f']], {});
  const trainer = await Trainer.create({ ...byCharacters, pairs, validation: 0 });
  const file = await trainer.save({ metadata: new Proxy({ licence: 'none' }, {}) });
  assert.equal((await Translator.load(file)).info.metadata.licence, 'none');
  assert.equal((await trainer.evaluate(new Proxy([['a', 'b']], {}))).translations.length, 1);
  trainer.dispose();
  await assert.rejects(Trainer.resume(undefined), { message: '[load] the checkpoint is missing' });
});

test('a goal may be passes or minutes', async () => {
  const trainer = await Trainer.create(small);
  const one = await trained(trainer, { epochs: 1.5, reportEvery: 1000 });
  close(one.at(-1).epoch, 1.5, 1 / trainer.info.batchesPerEpoch);
  const begin = performance.now();
  await trained(await Trainer.create(small), { minutes: 0.005 });
  assert.ok(performance.now() - begin < 60_000);
});

// [type, pieces of a joint vocabulary, of each of two]; unigram finds too few in one side of so small a text.
for (const [type, ...sizes] of [['word', 36, 27], ['bpe', 36, 34], ['unigram', 36]]) {
  test(`pieces are learned from the pairs: ${type}, one vocabulary or two`, async () => {
    const animals = ['Hund dog', 'Katze cat', 'Vogel bird', 'Fisch fish', 'Pferd horse', 'Maus mouse', 'Biene bee'];
    const words = ['kleine little', 'graue grey', 'schnelle quick', 'junge young', 'wilde wild', 'brave good'];
    const many = Array.from({ length: 60 }, (_, i) =>
      [0, 1].map((side) => [words[i % 6], animals[i % 7]].map((pair) => pair.split(' ')[side]).join(' ')),
    );
    for (const [i, vocabSize] of sizes.entries()) {
      const joint = i === 0;
      const trainer = await Trainer.create({
        tsv: `\uFEFF${many.map((pair) => pair.join('\t')).join('\r\n')}\r\n`,
        tokenizer: { type, vocabSize, joint },
        config,
        threads: 1,
      });
      const { source_vocab_size, target_vocab_size, tie_embeddings } = trainer.info.config;
      assert.ok(source_vocab_size <= vocabSize && target_vocab_size <= vocabSize);
      assert.equal(tie_embeddings, joint ? 'all' : 'target');
      assert.deepEqual([trainer.info.trainPairs, trainer.info.validationPairs], [57, 3]);
      await trained(trainer, { steps: 2 }, (_, [event]) => assert.ok(Number.isFinite(event.loss)));
    }
  });
}

test('a loaded model is fine-tuned: it learns the correction', async () => {
  const correction = [['Danke!', 'Thanks a lot, dear friends!']];
  const settings = { pairs: correction, validation: correction, threads: 1 };
  for (const from of [fixturePath, fixtureBytes()]) {
    const trainer = await Trainer.create({ from, ...settings, config: { learning_rate: 1e-3, dropout: 0 } });
    assert.equal(trainer.info.config.dropout, 0);
    assert.equal(trainer.info.training.schedule, 'constant');
    assert.notEqual((await trainer.translate('Danke!')).text, correction[0][1]);
    await trained(trainer, { steps: 60 }, async () => {
      assert.equal((await trainer.translate('Danke!')).text, correction[0][1]);
    });
  }
});

test('a Buffer that a model is fine-tuned from, and a view into a larger one, stay with the caller', async () => {
  const bytes = fixtureBytes();
  const larger = Buffer.alloc(bytes.length + 8, bytes);
  for (const from of [Buffer.from(bytes), larger.subarray(0, bytes.length)]) {
    (await Trainer.create({ from, pairs, validation: pairs, threads: 1 })).dispose();
    assert.equal(from.length, bytes.length);
    assert.ok(from.equals(bytes));
  }
  assert.equal(larger.length, bytes.length + 8);
});

test('a learning rate that is far too high is reported, and the trainer still works', async () => {
  const wild = { schedule: 'constant', learning_rate: 50, warmup_steps: 0, optimizer: 'sgd', label_smoothing: 0 };
  const trainer = await Trainer.create({ ...small, config: { ...config, ...wild } });
  await assert.rejects(async () => {
    for await (const _ of trainer.run({ steps: 200 }));
  }, { message: /(is not finite|far above the [\d.]+ of guessing); training has diverged\. The weights are those from before this step/ });
  assert.equal((await trainer.save()).size > 0, true);
  trainer.dispose();
});

// [options, what the sentence must say]
const refused = [
  [{}, 'one of pairs, tsv, task, labeled, tagged and text is needed'],
  [{ task: 'reverse', pairs }, 'pairs, tsv and task all give sentence pairs; choose one of them'],
  [{ task: 'invert' }, /task .*invert/],
  [{ task: { name: 'roman', pairs: 5000 } }, '5000 pairs of roman are asked for; there can be 1 to 3700'],
  [{ task: { pairs: 3 } }, "there is no task ''; there are copy"],
  [{ task: 'copy', validation: 5 }, 'a task makes its own pairs'],
  [{ pairs: [['a', 'b']] }, 'there must be some left to train on'],
  [{ pairs: [['a', 'b'], ['c']] }, 'pairs[1] must be two strings'],
  [{ pairs: [] }, 'one of pairs, tsv, task, labeled, tagged and text is needed'],
  [{ tsv: 'only one column\n' }, 'line 1 of tsv has 1 column'],
  [{ tsv: 'a\tb\nc\n' }, 'line 2 of tsv has 1 column'],
  [{ ...byCharacters, pairs: [['', 'a'], ['b', '']] }, 'all 2 pairs have an empty side'],
  [{ ...byCharacters, preset: 'huge' }, /preset .*huge/],
  [{ ...byCharacters, config: { d_modl: 3 } }, "unknown option 'd_modl'; did you mean 'd_model'?"],
  [{ ...byCharacters, config: { d_model: 30, num_heads: 4 } }, 'd_model 30 is not a multiple of num_heads 4'],
  [{ ...byCharacters, config: { source_vocab_size: 9 } }, 'source_vocab_size is given, but the vocabulary decides'],
  [{ ...byCharacters, config: { dropout: 1 } }, 'dropout must be a number of at least 0 and below 1, not 1'],
  [{ ...byCharacters, seed: 1, config: { seed: 2 } }, "seed is 1, but the config's seed is 2"],
  [{ ...byCharacters, config: { d_model: 8192, ffn_dim: 8192 } }, /these settings take about \d+(\.\d)? GB of memory, and there are 4/],
  [{ ...byCharacters, tokenizer: { type: 'bpe', vocabSize: 30000 } }, 'vocab_size is 30000, too high for this text; it can be'],
  [{ ...byCharacters, tokenizer: { type: 'char', vocabSize: 50 } }, 'the texts decide how many'],
  [{ ...byCharacters, tokenizer: { type: 'bytes' } }, 'tokenizer.type must be char, word, bpe or unigram, not "bytes"'],
  [{ ...byCharacters, tokenizer: { source: new Uint8Array(3) } }, 'tokenizer must have a type, or a source and a target file'],
  [{ ...byCharacters, tokenizer: new Uint8Array([1, 2, 3]) }, /tokenizer/],
  [{ from: fixturePath, pairs, preset: 'tiny' }, 'preset is given, but a model that is fine-tuned has its own'],
  [{ from: fixturePath, pairs, validation: 1, config: { d_model: 8 } }, 'keeps its sizes'],
  [{ ...byCharacters, Seed: 1 }, "unknown option 'Seed'; did you mean 'seed'?"],
];
for (const [options, sentence] of refused) {
  test(`refused: ${sentence}`, async () => {
    const message = typeof sentence === 'string' ? new RegExp(sentence.replace(/[[\]().?]/g, '\\$&')) : sentence;
    await assert.rejects(Trainer.create({ threads: 1, ...options }), { message });
  });
}

test('options of run, save and evaluate are checked', async () => {
  const trainer = await Trainer.create(small);
  for (const [options, message] of [
    [{ step: 1 }, /^\[run\] unknown option 'step'; did you mean 'steps'\?/],
    [{ reportEvery: 0 }, /reportEvery must be a whole number of at least 1, not 0/],
    [{ minutes: 0 }, /minutes must be a number above 0, not 0/],
    [{ pinned: ['a', 1] }, /pinned\[1\] must be a string, not 1/],
  ]) {
    await assert.rejects(trainer.run(options).next(), { message });
  }
  await assert.rejects(trainer.save({ optimizer: false, data: true }), { message: /holds no sentence pairs/ });
  const notSettings = { message: '[change] the changes must be an object of settings, not undefined' };
  await assert.rejects(trainer.change(), notSettings);
  await assert.rejects(trainer.evaluate([]), { message: /^\[evaluate\] pairs is empty/ });
  await assert.rejects(trainer.evaluate(pairs, { beamsize: 2 }), { message: /did you mean 'beamSize'/ });
  trainer.dispose();
});
