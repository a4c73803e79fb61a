// Writes the model's file: safetensors, as bindings/js/detect/detector.ts reads them.
import { languages, scripts } from './corpus.mjs';

const MORE = 255;
const ZERO = 8; // what stands for 0 in four bits

/** Differences between ascending numbers; 255 goes on in the next byte. */
function gapsOf(grams) {
  const gaps = [];
  let last = 0;
  for (const gram of grams) {
    let gap = gram - last;
    for (; gap >= MORE; gap -= MORE) gaps.push(MORE);
    gaps.push(gap);
    last = gram;
  }
  return Uint8Array.from(gaps);
}

/** Two whole numbers in a byte, the first in its lower half. */
function packedVectors(weights, count) {
  const { width } = weights;
  return Uint8Array.from({ length: count * width / 2 }, (_, i) => {
    const at = Math.floor(2 * i / width) * width, column = (2 * i) % width;
    return weights.whole(at, column) + ZERO + ((weights.whole(at, column + 1) + ZERO) << 4);
  });
}

/** The columns' steps are part of the matrix. */
const scaledOutput = ({ output, steps, width }) => output.map((value, i) => value * steps[i % width]);

/** In each line a script and the languages that are written in it. */
const scriptLines = (used) => scripts.map((script) => {
  const users = languages.filter((_, language) => used[language].includes(script));
  return [script, ...users].join(' ');
}).join('\n');

/** `used[language]` are the names of the scripts that a language is written in. */
export function encodeModel(weights, grams, used, metadata) {
  const count = languages.length;
  const tensors = {
    grams: { dtype: 'U8', data: gapsOf(grams) },
    vectors: { dtype: 'U8', shape: [grams.length, weights.width / 2], data: packedVectors(weights, grams.length) },
    output: { dtype: 'F32', shape: [count, weights.width], data: scaledOutput(weights) },
    bias: { dtype: 'F32', shape: [count], data: weights.bias },
  };
  const own = { detected_languages: languages.join(' '), detected_scripts: scriptLines(used) };
  const header = { __metadata__: { ...metadata, ...own } };
  const parts = [];
  let at = 0;
  for (const [name, { dtype, data, shape = [data.length] }] of Object.entries(tensors)) {
    header[name] = { dtype, shape, data_offsets: [at, at += data.byteLength] };
    parts.push(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  }
  const json = Buffer.from(JSON.stringify(header));
  const padded = Buffer.concat([json, Buffer.alloc((8 - json.length % 8) % 8, ' ')]);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(padded.length));
  return Buffer.concat([length, padded, ...parts]);
}
