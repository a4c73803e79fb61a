// What callers may not pass is refused, by its name and value.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Translator } from '../../dist/index.js';
import { fixturePath, sentences } from './support.mjs';

let translator;
before(async () => {
  translator = await Translator.load(fixturePath);
});
after(() => translator.dispose());

// [options, the same with one changed], by its name.
const drawn = (more) => ({ sampling: { temperature: 2, seed: 1, ...more } });
const changing = {
  beamSize: [{ beamSize: 1 }, { beamSize: 8 }],
  lengthPenalty: [{ lengthPenalty: 0 }, { lengthPenalty: 2 }],
  nBest: [{}, { nBest: 2 }],
  maxLength: [{}, { maxLength: 3 }],
  sampling: [{ beamSize: 1 }, drawn()],
  'sampling.temperature': [drawn(), drawn({ temperature: 0.5 })],
  'sampling.topK': [drawn(), drawn({ topK: 2 })],
  'sampling.topP': [drawn(), drawn({ topP: 0.1 })],
  'sampling.seed': [drawn(), drawn({ seed: 2 })],
  prefix: [{}, { prefix: 'Perhaps' }],
  maskedSource: [{}, { maskedSource: [1] }],
  maskedHeads: [{}, { maskedHeads: [{ attention: 'cross', layer: 0, head: 1 }] }],
  attention: [{}, { attention: true }],
  topTokens: [{}, { topTokens: 2 }],
  beamTrace: [{}, { beamTrace: true }],
  internals: [{}, { internals: true }],
  glossary: [{}, { glossary: [{ source: 'Buch', target: 'cat' }] }],
};

for (const [name, [options, others]] of Object.entries(changing)) {
  test(`${name} changes the result deterministically`, async () => {
    const calls = [options, options, others].map((given) => translator.translate(sentences[2], given));
    const [first, again, other] = await Promise.all(calls);
    assert.deepEqual(again, first);
    assert.notDeepEqual(other, first);
  });
}

// [options, what the sentence must say]
const refusedByTranslate = [
  [{ beam_size: 2 }, "unknown option 'beam_size'; did you mean 'beamSize'?"],
  [{ lengthpenalty: 2 }, "unknown option 'lengthpenalty'; did you mean 'lengthPenalty'?"],
  // As they are called in Transformers.js.
  [{ num_beams: 4 }, "unknown option 'num_beams'; use 'beamSize' instead"],
  [{ beamSize: 2, num_return_sequences: 2 }, "unknown option 'num_return_sequences'; use 'nBest' instead"],
  [{ max_new_tokens: 60 }, "unknown option 'max_new_tokens'; use 'maxLength' instead"],
  [{ max_length: 60 }, "unknown option 'max_length'; did you mean 'maxLength'?"],
  [{ length_penalty: 1 }, "unknown option 'length_penalty'; did you mean 'lengthPenalty'?"],
  [{ do_sample: true }, "unknown option 'do_sample'; use 'sampling' instead"],
  [{ top_k: 5 }, "unknown option 'top_k'; use 'sampling.topK' instead"],
  [{ top_p: 0.5 }, "unknown option 'top_p'; use 'sampling.topP' instead"],
  [{ temperature: 0.5 }, "unknown option 'temperature'; use 'sampling.temperature' instead"],
  [{ output_attentions: true }, "unknown option 'output_attentions'; use 'attention' instead"],
  [{ no_repeat_ngram_size: 3 }, "unknown option 'no_repeat_ngram_size'"],
  [{ colour: 'red' }, "unknown option 'colour'"],
  [{ constructor: 1 }, "unknown option 'constructor'"],
  [{ sampling: { topk: 3 } }, "unknown option 'sampling.topk'; did you mean 'topK'?"],
  [{ beamSize: 0 }, 'beamSize must be a whole number from 1 to 64, not 0'],
  [{ beamSize: 1.5 }, 'beamSize must be a whole number from 1 to 64, not 1.5'],
  [{ beamSize: '4' }, 'beamSize must be a whole number from 1 to 64, not "4"'],
  [{ beamSize: null }, 'not null'],
  [{ lengthPenalty: NaN }, 'lengthPenalty must be a number of at least 0, not "NaN"'],
  [{ nBest: 3, beamSize: 2 }, 'nBest is 3, but beamSize is 2'],
  [{ maxLength: -1 }, 'maxLength must be a whole number of at least 0, not -1'],
  [{ maxLength: 1_000_000 }, "maxLength is 1000000, but the model's max_length is"],
  [{ sampling: true }, 'sampling must be an object'],
  [{ sampling: { temperature: 0 } }, 'sampling.temperature must be a number above 0, not 0'],
  [{ sampling: { topP: 1.1 } }, 'sampling.topP must be a number above 0 and at most 1, not 1.1'],
  [{ sampling: { seed: -1 } }, 'sampling.seed must be a whole number of at least 0, not -1'],
  [{ sampling: {}, beamSize: 2 }, 'beamSize is 2, but sampling draws one text'],
  [{ prefix: ['I'] }, 'prefix[0] must be a whole number of at least 0, not "I"'],
  [{ prefix: [-1] }, 'prefix[0] must be a whole number of at least 0, not -1'],
  [{ prefix: 5 }, 'prefix must be a string or an array of token ids, not 5'],
  [{ maskedSource: 1 }, 'maskedSource must be an array, not 1'],
  [{ maskedSource: [0.5] }, 'maskedSource[0] must be a whole number of at least 0, not 0.5'],
  [{ maskSource: [0] }, "unknown option 'maskSource'; did you mean 'maskedSource'?"],
  [{ maskedHeads: ['cross:0:0'] }, 'maskedHeads[0] must be an object, not "cross:0:0"'],
  [{ maskedHeads: [{ attention: 'self', layer: 0, head: 0 }] },
    'maskedHeads[0].attention must be encoder, decoder or cross, not "self"'],
  [{ maskedHeads: [{ attention: 'cross', layer: -1, head: 0 }] }, 'maskedHeads[0].layer must be a whole number of at least 0, not -1'],
  [{ maskedHeads: [{ attention: 'cross', layer: 0 }] }, 'maskedHeads[0].head is missing'],
  [{ maskedHeads: [{ attention: 'cross', layer: 0, heads: 0 }] }, "unknown option 'maskedHeads[0].heads'; did you mean 'head'?"],
  [{ glossary: [{ source: 'Hund' }] }, 'glossary[0].target is missing'],
  [{ glossary: [{ source: 'Hund', target: ' ' }] }, 'glossary[0] has no words in its target'],
  [{ glossary: [{ source: '*', target: 'dog' }] }, 'glossary[0] has no words in its source'],
  [{ glossary: [{ source: 'a', target: 'b' }, { source: 'a', target: 'c' }] }, "glossary[1] has the source 'a' of an earlier term"],
  [{ beamTrace: 'yes' }, 'beamTrace must be true or false, not "yes"'],
  [{ beamTrace: true, sampling: {} }, 'beamTrace needs beam search; it is not available with sampling'],
  [{ internals: 1 }, 'internals must be true or false, not 1'],
  [{ attention: 1 }, 'attention must be true or false, not 1'],
  [{ topTokens: () => 1 }, 'topTokens must be a whole number of at least 0, not "a function"'],
  [{ topTokens: -1 }, 'topTokens must be a whole number of at least 0, not -1'],
  [{ onPartial: 'log' }, "onPartial must be a function, not 'log'"],
  [{ signal: new AbortController() }, 'signal must be an AbortSignal, not an object (AbortController)'],
  [null, 'options must be an object, not null'],
  ['fast', "options must be an object, not 'fast'"],
];

for (const [options, says] of refusedByTranslate) {
  test(`translate refuses ${JSON.stringify(options)}`, async () => {
    await assert.rejects(translator.translate('Danke!', options), (error) => {
      assert.ok(error instanceof Error);
      assert.ok(error.message.startsWith('[translate] ') && error.message.includes(says), error.message);
      return true;
    });
  });
}

const refusedByLoad = [
  [{ thread: 1 }, "unknown option 'thread'; did you mean 'threads'?"],
  [{ threads: 0 }, "threads must be 'auto' or a whole number from 1 to 64, not 0"],
  [{ threads: 65 }, "threads must be 'auto' or a whole number from 1 to 64, not 65"],
  [{ threads: 'all' }, "threads must be 'auto' or a whole number from 1 to 64, not 'all'"],
  [{ onProgress: true }, 'onProgress must be a function, not true'],
  [{ cache: 'no' }, "cache must be true, false or an object with match, put, delete and keys, not 'no'"],
  [{ cache: true }, 'only models from http(s) URLs can be cached'],
  [{ integrity: 'md5-abc' }, "integrity must be 'sha256-' and the digest in base64, not 'md5-abc'"],
  [{ signal: {} }, 'signal must be an AbortSignal'],
];

for (const [options, says] of refusedByLoad) {
  test(`load refuses ${JSON.stringify(options)}`, async () => {
    await assert.rejects(Translator.load(fixturePath, options), (error) => {
      assert.ok(error.message.startsWith('[load] ') && error.message.includes(says), error.message);
      return true;
    });
  });
}

test('texts and models of another type are refused', async () => {
  await assert.rejects(translator.translate(5), { message: '[translate] the text must be a string, not 5' });
  await assert.rejects(translator.translate(['a', null]), { message: '[translate] text 2 must be a string, not null' });
  // eslint-disable-next-line no-sparse-arrays
  await assert.rejects(translator.translate([, 'a']), { message: '[translate] text 1 must be a string, not undefined' });
  await assert.rejects(Translator.load(''), { message: /^\[load\] the model must be a URL, a path, .* not ''$/ });
  await assert.rejects(Translator.load(42), /the model must be a URL, a path, a Blob, .* not 42/);
  await assert.rejects(Translator.load(), /the model must be .* not undefined/);
});

test('options that are undefined count as left out', async () => {
  const { text } = await translator.translate('Danke!', { beamSize: undefined, sampling: undefined, signal: undefined });
  assert.equal(text, (await translator.translate('Danke!')).text);
  assert.equal((await translator.translateText('Danke!', { onToken: undefined })).text, text);
  let readings = 0;
  await translator.translate('Danke!', { maskedSource: { toJSON: () => (readings++, [0]) } });
  assert.equal(readings, 1, 'an option is read once');
});

test('after a refusal the translator keeps working', async () => {
  await assert.rejects(translator.translate('Danke!', { beamSize: 0 }));
  assert.notEqual((await translator.translate('Danke!')).targetTokens.length, 0);
});
