// pipeline() in the shape of Transformers.js: what its options do, and which are refused.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Translator } from '../../dist/index.js';
import { pipeline, TextStreamer } from '../../dist/pipeline/index.js';
import { streaming } from '../../dist/pipeline/streamer.js';
import { fixturePath, sentences } from './support.mjs';

let translate;
let translator;
before(async () => {
  translate = await pipeline('translation', fixturePath);
  translator = await Translator.load(fixturePath);
});
after(async () => {
  await translate.dispose();
  translator.dispose();
});

const texts = async (...args) => (await translate(...args)).map((output) => output.translation_text);

test('a pipeline takes one text or several, and returns the requested number of outputs', async () => {
  const one = await translator.translate(sentences[0], { nBest: 3 });
  assert.deepEqual(await translate(sentences[0]), [{ translation_text: one.text }]);
  const three = await texts(sentences[0], { num_return_sequences: 3 });
  assert.deepEqual(three, [one, ...one.alternatives].map(({ text }) => text));
  assert.deepEqual(await texts(sentences), (await translator.translate(sentences)).map(({ text }) => text));
  assert.equal((await texts(sentences, { num_return_sequences: 2 })).length, 2 * sentences.length);
});

test('every option does what it says', async () => {
  const long = sentences[2];
  const mine = async (options) => (await translator.translate(long, options)).text;
  assert.deepEqual(await texts(long, { num_beams: 1 }), [await mine({ beamSize: 1 })]);
  const short = await mine({ maxLength: 3 });
  assert.deepEqual(await texts(long, { max_new_tokens: 3 }), [short]);
  assert.deepEqual(await texts(long, { max_length: 4 }), [short]);
  const drawn = { temperature: 1.5, topK: 50, topP: 0.9, seed: 7 };
  const [draw] = await texts(long, { do_sample: true, temperature: 1.5, top_p: 0.9, seed: 7 });
  assert.equal(draw, await mine({ sampling: drawn }));
  assert.notEqual(draw, await mine({}));
  assert.deepEqual(await texts(long, { do_sample: true, top_k: 1 }), [await mine({ beamSize: 1 })]);
  const [{ attention }] = await translate(long, { output_attentions: true });
  assert.deepEqual(attention.cross.data, (await translator.translate(long, { attention: true })).attention.cross.data);
  const heard = [];
  const [text] = await texts(long, { callback_function: (partial) => heard.push(partial) });
  assert.ok(heard.length > 3);
  assert.equal(heard.at(-1), text);
  await texts(long, { src_lang: 'de', tgt_lang: 'en' });
  await assert.rejects(translate(long, { signal: AbortSignal.abort() }), { name: 'AbortError' });
});

test('invalid input is refused by name', async () => {
  for (const [options, message] of [
    [null, /^\[pipeline\] options must be an object, not null/],
    [{ beams: 2 }, /^\[pipeline\] unknown option 'beams'/],
    [{ num_beams: 0 }, /^\[translate\] beamSize must be/],
    [{ num_return_sequences: 5 }, /^\[translate\] nBest is 5, but beamSize is 4/],
    [{ num_return_sequences: 2, output_attentions: true }, /output_attentions works for one output only/],
    [{ streamer: {} }, /streamer must be a TextStreamer of wasmformer\/pipeline/],
    [{ do_sample: true, num_beams: 3 }, /^\[translate\] beamSize is 3, but sampling draws one text/],
    [{ max_length: 9, max_new_tokens: 9 }, /are both given/],
    [{ max_length: 1 }, /^\[pipeline\] max_length is 1, but the least is 2$/],
    [{ max_new_tokens: 0 }, /^\[pipeline\] max_new_tokens is 0, but the least is 1$/],
    [{ tgt_lang: 'fr' }, /tgt_lang is 'fr', but the model translates de-en/],
  ]) {
    await assert.rejects(translate(sentences[0], options), { message });
  }
  await assert.rejects(pipeline('summarization', fixturePath), { message: /there is no task 'summarization'/ });
  await assert.rejects(pipeline('translation', fixturePath, { divice: 'cpu' }), { message: /unknown option 'divice'; did you mean 'device'/ });
  await assert.rejects(pipeline('translation', fixturePath, { dtype: 7 }), { message: /^\[pipeline\] dtype must be a string, not 7/ });
});

/** What `work` writes with console.warn. */
async function warnings(t, work) {
  const { mock } = t.mock.method(console, 'warn', () => {});
  await work();
  return mock.calls.map(({ arguments: [message] }) => message);
}

test('Transformers.js options without effect here are named in a warning, once', async (t) => {
  const long = sentences[2];
  const expected = await texts(long);
  const told = await warnings(t, async () => {
    for (let times = 0; times < 2; times++) {
      const given = { length_penalty: 1, no_repeat_ngram_size: 3, temperature: 2, top_k: 3, early_stopping: true };
      assert.deepEqual(await texts(long, given), expected);
      const other = await pipeline('translation', fixturePath, { device: 'webgpu', dtype: 'q4', revision: 'main' });
      assert.equal((await other(long))[0].translation_text, expected[0]);
      await other.dispose();
    }
  });
  assert.equal(told.length, 8);
  for (const [i, name] of ['length_penalty', 'no_repeat_ngram_size', 'early_stopping', 'temperature', 'top_k', 'revision', 'device', 'dtype'].entries()) {
    assert.ok(told[i].startsWith(`[pipeline] ${name} `), told[i]);
  }
});

test('a streamer gets the text part by part, as greedy search writes it', async (t) => {
  const long = sentences[2];
  const [expected] = await texts(long, { num_beams: 1 });
  const parts = [];
  const streamer = new TextStreamer(translate.tokenizer, { skip_prompt: true, callback_function: (text) => parts.push(text) });
  assert.deepEqual(await texts(long, { streamer }), [expected]);
  assert.ok(parts.length > 3);
  assert.equal(parts.join(''), expected);
  assert.match((await warnings(t, () => texts([long], { streamer, num_beams: 4 })))[0], /num_beams is 1 with a streamer/);
  await assert.rejects(translate(sentences, { streamer }), /a streamer takes one text/);
});

test('null means not given, and tasks have their other names', async () => {
  const names = ['max_length', 'max_new_tokens', 'num_beams', 'do_sample', 'temperature', 'streamer', 'src_lang', 'signal'];
  const nothing = Object.fromEntries(names.map((name) => [name, null]));
  assert.deepEqual(await translate(sentences[0], nothing), await translate(sentences[0]));
  const named = await pipeline('translation_de_to_en', fixturePath);
  assert.equal(named.task, 'translation');
  assert.deepEqual(await named(sentences[0]), await translate(sentences[0]));
  await named.dispose();
  const others = { message: "[pipeline] tgt_lang is 'fr', but the model translates de-en" };
  await assert.rejects(pipeline('translation_de_to_fr', fixturePath), others);
  for (const task of ['ner', 'sentiment-analysis']) {
    await assert.rejects(pipeline(task, fixturePath), /is a translator|encoder|classif|tag/i, 'the task exists, the model is of another kind');
  }
  await assert.rejects(pipeline('translation_de_', fixturePath), { message: /there is no task 'translation_de_'/ });
  await assert.rejects(pipeline('constructor', fixturePath), { message: /there is no task 'constructor'/ });
});

test('a streamer gets whole characters, and in the end the whole text', async () => {
  const streamed = (partials, text) => {
    const parts = [];
    const { options, end } = streaming(new TextStreamer(undefined, { callback_function: (part) => parts.push(part) }), 'x');
    for (const partial of partials) options.onPartial(partial);
    end(text);
    return parts;
  };
  // A character of several bytes, one byte a step; the end of what is not yet a character is U+FFFD.
  assert.deepEqual(streamed(['S', 'S\ufffd', 'São', 'São 🙂'], 'São 🙂!'), ['S', 'ão', ' 🙂', '!']);
  assert.deepEqual(streamed(['a', 'a\ufffd', 'a\ufffd\ufffd', 'a🙂'], 'a🙂'), ['a', '🙂']);
  assert.deepEqual(streamed(['a\ufffd'], 'a\ufffd'), ['a', '\ufffd'], 'what is never completed');
  assert.deepEqual(streamed(['\ufffd\ufffd'], '鹅'), ['鹅'], 'a text that begins so');
  assert.deepEqual(streamed(['one', 'two', 'on'], 'one two'), ['one', ' two'], 'a step back');
  assert.deepEqual(streamed(['so far', 'so good'], 'so good'), ['so far', 'good'], 'a change of what was sent');
  assert.deepEqual(streamed([], ''), []);
});

test('languages may be named as in NLLB', async () => {
  await texts(sentences[0], { src_lang: 'deu_Latn', tgt_lang: 'eng_Latn' });
  await texts(sentences[0], { src_lang: 'de_DE', tgt_lang: 'en' });
  await assert.rejects(translate(sentences[0], { tgt_lang: 'fra_Latn' }), /tgt_lang is 'fra_Latn', but the model translates de-en/);
});

test('progress is reported as in Transformers.js; so are the outputs of text2text-generation', async () => {
  const seen = [];
  const generate = await pipeline('text2text-generation', fixturePath, { progress_callback: (told) => seen.push(told) });
  assert.deepEqual([seen[0], seen.at(-2), seen.at(-1)].map(({ status }) => status), ['initiate', 'done', 'ready']);
  const progress = seen.filter(({ status }) => status === 'progress').at(-1);
  assert.deepEqual([progress.progress, progress.loaded, progress.file], [100, progress.total, fixturePath]);
  assert.deepEqual(Object.keys((await generate('Danke!'))[0]), ['generated_text']);
  await generate.dispose();
  await assert.rejects(generate('Danke!'), /disposed of/);
});
