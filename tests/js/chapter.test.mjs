// The benchmark with real text (tests/bench/README.md): each engine must write what a sentence asks for.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { importMarian } from '../../dist/convert/index.js';
import { Translator } from '../../dist/index.js';
import { piecesFor, readChapter } from '../bench/chapter.mjs';
import { endingWeights, longest } from '../bench/endings.mjs';
import { modelBytes, vocabularyOf } from '../bench/marian.mjs';

const chapter = readFileSync(new URL('../bench/northanger-abbey.txt', import.meta.url), 'utf8');

test('the chapter has 100 blocks with 423 sentences', () => {
  const blocks = readChapter(chapter, 200);
  assert.equal(blocks.length, 100);
  assert.equal(blocks.flat().length, 423);
  // Bergamot cuts sentences after 127 tokens.
  assert.ok(Math.max(...blocks.flat().map(({ sourceTokens }) => sourceTokens)) <= 127);
});

test('a student ends each translation where its sentence says, alone and in a batch', async () => {
  const shape = { d: 256, heads: 8, layers: 2, decoderLayers: 2, ffn: 256, vocabulary: 4096 };
  const pieces = piecesFor(chapter, shape);
  const files = { 'model.bin': modelBytes(shape, true, endingWeights(shape, pieces)), 'vocab.spm': vocabularyOf(pieces) };
  const model = await importMarian(Object.entries(files).map(([name, bytes]) => new File([bytes], name)));
  const translator = await Translator.load(model, { threads: 1 });
  const sentences = readChapter(chapter, 4).flat();
  const options = { beamSize: 1, maxLength: longest };
  const together = await translator.translate(sentences.map(({ text }) => text), options);
  assert.deepEqual(together.map((one) => one.targetTokens.length), sentences.map(({ length }) => length));
  assert.deepEqual(together.map((one) => one.sourceTokens.length), sentences.map(({ sourceTokens }) => sourceTokens));
  const alone = await translator.translate(sentences.at(-1).text, options);
  assert.equal(alone.targetTokens.length, sentences.at(-1).length);
  translator.dispose();
});
