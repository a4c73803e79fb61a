// Calibrates `quality` on a validation text: fits the probability that a translated word occurs in its reference.
//   node web/models/calibrate.mjs MODEL.safetensors VALID.tsv[.gz] [--columns 0,1] [--test TEST.tsv[.gz]]
// prints the metadata 'quality_calibration', the three numbers of a beta calibration (Kull et al. 2017); with --test also the
// expected calibration error on that part (Naeini et al. 2015; ten bins), before and after.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Translator } from '../../dist/index.js';
import { readPairs } from './corpus.mjs';

const { values, positionals: [model, valid] } = parseArgs({
  allowPositionals: true, options: { columns: { type: 'string', default: '0,1' }, test: { type: 'string' } },
});
if (!valid) throw new Error('usage: calibrate.mjs MODEL VALID [--columns S,T] [--test TEST]');
const [source, target] = values.columns.split(',').map(Number);

const wordsOf = (text) => text.toLowerCase().match(/\p{Script=Han}|[^\p{Script=Han}\s]+/gu) ?? [];

/** Each translated word: its log-probability, and whether the reference contains it (each of its words matches once). */
async function judged(translator, file) {
  const pairs = readPairs(file);
  const all = [];
  for (let i = 0; i < pairs.length; i += 100) {
    const some = pairs.slice(i, i + 100);
    const found = await translator.translate(some.map((pair) => pair[source]), { quality: true });
    found.forEach(({ text, quality }, k) => {
      const rest = wordsOf(some[k][target]);
      for (const { start, end, logProbability } of quality.words) {
        const at = rest.indexOf(text.slice(start, end).toLowerCase());
        if (at >= 0) rest.splice(at, 1);
        all.push({ x: logProbability, isRight: at >= 0 });
      }
    });
  }
  return all;
}

const features = (logProbability) => {
  const x = Math.min(logProbability, -1e-7);
  return [x, -Math.log(-Math.expm1(x)), 1];
};
const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
const sigmoid = (x) => 1 / (1 + Math.exp(-x));

/** The solution of a positive definite system, by elimination. */
function solve(matrix, right) {
  const rows = matrix.map((row, i) => [...row, right[i]]);
  const n = rows.length;
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < n; k++) {
      if (k === i) continue;
      const factor = rows[k][i] / rows[i][i];
      rows[k] = rows[k].map((value, j) => value - factor * rows[i][j]);
    }
  }
  return rows.map((row, i) => row[n] / row[i]);
}

/**
 * Logistic regression by Newton's method. If one of the first two weights is below 0, a less likely word could seem more
 * certain: that weight is set to 0 and the others are fitted again, as in the paper.
 */
function fit(words, kept = [0, 1, 2]) {
  const weights = [0, 0, 0]; // where Newton's method starts; from far away it may diverge
  for (let round = 0; round < 30; round++) {
    const gradient = kept.map(() => 0), curvature = kept.map(() => kept.map(() => 0));
    for (const { x, isRight } of words) {
      const f = features(x), p = sigmoid(dot(weights, f));
      kept.forEach((i, row) => {
        gradient[row] += ((isRight ? 1 : 0) - p) * f[i];
        kept.forEach((k, column) => (curvature[row][column] += p * (1 - p) * f[i] * f[k]));
      });
    }
    solve(curvature, gradient).forEach((change, row) => (weights[kept[row]] += change));
  }
  const negative = kept.find((i) => i < 2 && weights[i] < 0);
  return negative === undefined ? weights : fit(words, kept.filter((i) => i !== negative));
}

function calibrationError(words, probability) {
  const bins = Array.from({ length: 10 }, () => ({ sum: 0, right: 0 }));
  for (const { x, isRight } of words) {
    const p = probability(x);
    const bin = bins[Math.min(9, Math.floor(10 * p))];
    bin.sum += p;
    bin.right += isRight ? 1 : 0;
  }
  return bins.reduce((error, { sum, right }) => error + Math.abs(sum - right), 0) / words.length;
}

const translator = await Translator.load(new Uint8Array(readFileSync(model)));
const weights = fit(await judged(translator, valid));
console.log(JSON.stringify({ quality_calibration: weights.map((weight) => weight.toFixed(3)).join(' ') }));
if (values.test) {
  const words = await judged(translator, values.test);
  const share = words.filter(({ isRight }) => isRight).length / words.length;
  const percent = (value) => `${(100 * value).toFixed(1)} %`;
  console.error(`${words.length} words, ${percent(share)} of them in the references; calibration error ${
    percent(calibrationError(words, Math.exp))} before, ${
    percent(calibrationError(words, (x) => sigmoid(dot(weights, features(x)))))} after`);
}
translator.dispose();
