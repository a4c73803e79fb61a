// The numbers of the lecture's figures: against the paper's tables, published examples, formulas and finite differences.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './load.mjs';

const figure = (name) => load(`lecture/figures/${name}.ts`);
const near = (a, b, within, message) => assert.ok(Math.abs(a - b) <= within, `${message ?? ''} ${a}, not ${b}`);
const sum = (values) => values.reduce((total, value) => total + value, 0);

test('parameters add up to what the paper states for base, big and every row of table 3', async () => {
  const { BASE, BIG, counts, TABLE_3, total } = await figure('parameters');
  // By hand: 6 layers of 4 · 512² and 2 · 512 · 2048, six more with twice the attention, and the table of 37,000 tokens.
  const layer = 4 * 512 ** 2 + 2 * 512 * 2048 + 2048 + 512;
  assert.equal(total(BASE), 37_000 * 512 + 6 * layer + 6 * (layer + 4 * 512 ** 2) + 30 * 2 * 512);
  assert.equal(sum(counts(BIG).map(({ one, boxes }) => one * boxes)), total(BIG));
  near(total(BASE) / 1e6, 65, 2.1);
  near(total(BIG) / 1e6, 213, 2);
  for (const { change, millions, shape } of TABLE_3) near(total(shape) / 1e6, millions, 4.3, change);
  const base = TABLE_3[0];
  for (const row of TABLE_3.filter(({ group }) => 'ABC'.includes(group))) {
    near((total(row.shape) - total(base.shape)) / 1e6, row.millions - base.millions, 2.3, `${row.change} beside base:`);
  }
});

test('hours and operations of training are those of the paper', async () => {
  const { hours, MODELS, operations, tokensSeen } = await figure('hardware');
  near(hours('base', MODELS.base.steps), 12, 1);
  near(hours('big', MODELS.big.steps) / 24, 3.5, 0.05);
  near(operations(hours('base', MODELS.base.steps)) / 3.3e18, 1, 0.01);
  near(operations(3.5 * 24) / 2.3e19, 1, 0.01);
  assert.equal(tokensSeen(100_000), 2.5e9);
});

test('positions are the sinusoids of section 3.5, and their dot product depends on the distance alone', async () => {
  const { likeness, positions, waveLength } = await figure('positions');
  const rows = positions(40, 32);
  assert.deepEqual(rows[0].slice(0, 4), [0, 1, 0, 1]);
  near(rows[3][0], Math.sin(3), 1e-12);
  near(rows[3][5], Math.cos(3 / 10000 ** (4 / 32)), 1e-12);
  near(likeness(rows, 5)[8], likeness(rows, 25)[28], 1e-12);
  assert.ok(Math.abs(likeness(rows, 5)[8] - likeness(rows, 5)[9]) > 0.01);
  near(waveLength(0, 512), 2 * Math.PI, 1e-12);
  assert.ok(waveLength(511, 512) > 60_000 && waveLength(511, 512) < 2 * Math.PI * 10_000);
});

test('without positions two words that change places keep their outputs; with them they do not', async () => {
  const { swap } = await figure('order');
  const words = ['dog', 'bites', 'man', '.'];
  for (const { difference } of swap(words, 0, 2, false)) near(difference, 0, 1e-12);
  for (const sentence of [words, ['狗', '咬', '人', '。']]) {
    const [dog, bites, man] = swap(sentence, 0, 2, true);
    assert.ok(dog.difference > 0.1 && man.difference > 0.1);
    assert.ok(bites.difference > 0.25, `the word between reads the two: ${bites.difference}`);
  }
});

test('attention is equation 1, and keys in another order give the same output', async () => {
  const { attention, softmax } = await figure('matrix');
  // QKᵀ / √2 is 0 and √2 · ln 2 / √2 = ln 2 for the first query, and the reverse for the second.
  const scale = Math.SQRT2 * Math.LN2;
  const { weights, output } = attention([[1, 0], [0, 1]], [[0, scale], [scale, 0]], [[3], [9]]);
  near(weights[0][1], 2 / 3, 1e-12);
  near(output[0][0], 7, 1e-12);
  near(output[1][0], 5, 1e-12);
  const reversed = attention([[1, 0], [0, 1]], [[scale, 0], [0, scale]], [[9], [3]]);
  near(reversed.output[0][0], 7, 1e-12);
  assert.deepEqual(softmax([0, -Infinity, 0]), [0.5, 0, 0.5]);
});

test('the example of six tokens has the shapes of the notes', async () => {
  const { attentionOf, HEADS, input, ofHead, weightsOf } = await figure('projections');
  const shape = (matrix) => [matrix.length, matrix[0].length];
  assert.deepEqual(shape(input()), [6, 9]);
  assert.equal(HEADS, 3);
  assert.deepEqual(shape(weightsOf('q')), [9, 9]);
  assert.deepEqual(shape(ofHead(weightsOf('v'), 2)), [9, 3]);
  const { weights, output } = attentionOf(input(), 1);
  assert.deepEqual([shape(weights), shape(output)], [[6, 6], [6, 3]]);
  for (const row of weights) near(sum(row), 1, 1e-12);
});

test('a dot product has the variance d_k; divided by √d_k, softmax keeps its gradient', async () => {
  const { averages, rowOf, slopesOf } = await figure('scaling');
  for (const dk of [1, 16, 64, 512]) {
    near(averages(dk, false).variance / dk, 1, 0.35, `d_k ${dk}:`);
    near(averages(dk, true).variance, averages(dk, false).variance / dk, 1e-9);
  }
  const slope = (dk, isScaled) => averages(dk, isScaled).slope;
  assert.ok(slope(256, false) < 0.2 * slope(1, false) && slope(256, false) < 0.1, 'as the answer to the question says');
  for (let exponent = 0; exponent <= 9; exponent++) {
    const dk = 2 ** exponent;
    assert.ok(slope(dk, true) > 0.7);
    assert.ok(slope(2 * dk, false) < slope(dk, false), `it falls steadily: ${dk}`);
  }
  for (const dk of [1, 64, 256]) {
    const { weights } = rowOf(dk, true);
    assert.deepEqual(weights, weights.toSorted((a, b) => b - a), 'the best key comes first');
  }
  // The slope of a weight by its own score, from a finite difference.
  const { softmax } = await figure('matrix');
  const { scores, weights } = rowOf(4, true);
  const moved = softmax(scores.map((score, i) => score + (i === 2 ? 1e-6 : 0)));
  near((moved[2] - weights[2]) / 1e-6, slopesOf(weights)[2], 1e-5);
});

test('padding gets no attention with −2³² + 1, and more than before with 0', async () => {
  const { changed, decoderWeights, lost, masked, VERY_NEGATIVE, WAYS, weightsWith } = await figure('masks');
  assert.equal(VERY_NEGATIVE, -4_294_967_295);
  assert.equal(lost('negative'), 0);
  assert.ok(lost('zero') > lost('none') && lost('none') > 0.05);
  assert.deepEqual(masked('zero').slice(3), [0, 0]);
  for (const way of WAYS) {
    const shown = weightsWith(way).map((weight) => Math.round(100 * weight));
    assert.deepEqual([sum(shown), shown[3] + shown[4]], [100, Math.round(100 * lost(way))], `${way}: what is shown adds up`);
  }
  assert.equal(changed(4, true), 0, 'earlier rows stay');
  assert.ok(changed(4, false) > 0.005);
  assert.deepEqual(decoderWeights(3, true)[0], [1, 0, 0]);
});

test('label smoothing: the loss is least where the model says what the target says', async () => {
  const { lead, leastLoss, loss, target } = await figure('smoothing');
  near(sum(target(8000, 0, 0.1)), 1, 1e-12);
  near(loss(8000, 0, 0.5), Math.LN2, 1e-12);
  // As in src/ops/cross_entropy_reference.h: q(c) = (1 - smoothing) [c is the target] + smoothing / V.
  const [right, other] = [0.9 + 0.1 / 8000, 0.1 / 8000];
  near(target(8000, 0, 0.1)[0], right, 1e-12);
  const entropy = -(right * Math.log(right) + 7999 * other * Math.log(other));
  near(leastLoss(8000, 0.1), entropy, 1e-9);
  assert.equal(leastLoss(8000, 0), 0);
  for (const sure of [0.85, 0.895, 0.905, 0.95, 0.9999]) assert.ok(loss(8000, 0.1, sure) > entropy, String(sure));
  assert.ok(loss(8000, 0, 0.9999) < loss(8000, 0, 0.99));
  near(lead(2, 0.5), 0, 1e-12);
});

test('the learning rate is equation 3, highest at the end of the warm-up', async () => {
  const { BETA_2, gradientsAveraged, rate } = await figure('rate');
  near(rate(4000, 512, 4000), 512 ** -0.5 * 4000 ** -0.5, 1e-12);
  near(rate(4000, 512, 4000), 0.0007, 0.00001);
  assert.ok(rate(3999, 512, 4000) < rate(4000, 512, 4000) && rate(4001, 512, 4000) < rate(4000, 512, 4000));
  near(rate(1, 512, 1), 0.044, 0.001);
  near(gradientsAveraged(1, BETA_2), 1, 1e-9);
  near(gradientsAveraged(1e6, BETA_2), (1 + BETA_2) / (1 - BETA_2), 1e-6);
});

test('table 1: self-attention is cheaper than recurrence exactly for n < d, and has the shortest path', async () => {
  const { operations, path, sequential } = await figure('complexity');
  const sizes = (n) => ({ n, d: 512, kernel: 3, reach: 64 });
  const isCheaper = (n) => operations('attention', sizes(n)) < operations('recurrent', sizes(n));
  assert.deepEqual([70, 511, 512, 700].map(isCheaper), [true, true, false, false]);
  assert.equal(operations('convolution', sizes(10)), 3 * 10 * 512 * 512);
  assert.equal(path('attention', sizes(700)), 1);
  assert.equal(path('recurrent', sizes(700)), 700);
  near(path('convolution', sizes(81)), 4, 1e-12);
  assert.equal(path('restricted', sizes(640)), 10);
  assert.equal(operations('restricted', sizes(16)), operations('attention', sizes(16)), 'it sees no more than there is');
  assert.deepEqual(['attention', 'recurrent'].map((layer) => sequential(layer, 9)), [1, 9]);
});

test('embeddings are as large as positions only with the factor √d', async () => {
  const [{ sizes }, { rootMeanSquare }, { normalMatrix }] = await Promise.all(['sizes', 'matrix', 'random'].map(figure));
  for (const d of [16, 512]) near(sizes(d, false).embedding, rootMeanSquare(normalMatrix(500, d, d ** -0.5, d).flat()), 0.01 * d ** -0.5);
  for (const d of [16, 32, 64, 512]) near(sizes(d, true).embedding, 1, 1e-9);
  near(sizes(64, true).position, Math.SQRT1_2, 1e-9);
  near(sizes(512, false).embedding / sizes(512, false).position, 1 / 16, 0.005, 'as the answer says');
});

test('word and place are both read from their sum once it is wide enough', async () => {
  const { readBack } = await figure('adding');
  assert.ok(readBack(2).word < 0.3);
  const wide = readBack(16);
  assert.ok(wide.word >= 0.99 && wide.place >= 0.99, JSON.stringify(wide));
});

test('byte-pair encoding makes the merges of the published example', async () => {
  const { learn, steps, wordCounts } = await figure('bpe');
  // Sennrich, Haddow and Birch (2016), section 3.2: {low: 5, lower: 2, newest: 6, widest: 3}.
  const counts = new Map([['low', 5], ['lower', 2], ['newest', 6], ['widest', 3]]);
  const merges = learn(counts, 10);
  assert.deepEqual(merges.slice(0, 5).map((pair) => pair.join('+')), ['e+s', 'es+t', 'est+·', 'l+o', 'lo+w']);
  assert.deepEqual(steps('lowest', merges).at(-1).symbols, ['low', 'est·']);
  assert.deepEqual([...wordCounts('Low, low; LOWER')], [['low', 2], ['lower', 1]]);
  assert.deepEqual(learn(new Map([['ab', 1]]), 5), [], 'nothing is seen twice');
});

test('a wider beam finds the empty sentence, and the length penalty brings the whole one back', async () => {
  const { END, LANGUAGE, search } = await figure('search');
  for (const [word, next] of Object.entries(LANGUAGE)) near(sum(Object.values(next)), 1, 1e-9, word);
  const best = (width, alpha) => search(LANGUAGE, width, alpha)[0].words;
  assert.ok(best(4, 0).length > 3);
  assert.deepEqual(best(10, 0), [END]);
  assert.ok(best(10, 0.6).length > 3);
  // The widest beam keeps everything, so its first is the most probable of all sentences.
  const all = search(LANGUAGE, 1000, 0).map(({ logProbability }) => Math.exp(logProbability));
  near(sum(all), 1, 1e-9);
  near(Math.max(...all), Math.exp(search(LANGUAGE, 10, 0)[0].logProbability), 1e-12);
});

test('gradients of the stack are those of finite differences', async () => {
  const { gradients, judge } = await figure('stack');
  const { normalMatrix } = await figure('random');
  const [x] = normalMatrix(1, 24, 1, 3);
  const step = 1e-5;
  for (const setting of [
    { layers: 3, residual: false, norm: 'none' }, { layers: 3, residual: true, norm: 'none' },
    { layers: 3, residual: true, norm: 'post' }, { layers: 3, residual: true, norm: 'pre' },
  ]) {
    const [first] = gradients(setting, x);
    for (const i of [0, 7, 23]) {
      const at = (by) => judge(setting, x.map((value, j) => value + (i === j ? by : 0)));
      near((at(step) - at(-step)) / (2 * step), first[i], 1e-6, `${JSON.stringify(setting)}, ${i}:`);
    }
  }
});

test('without the residual connection the gradient vanishes, and the norm keeps numbers at size 1', async () => {
  const { sizesOf } = await figure('stack');
  const without = sizesOf({ layers: 12, residual: false, norm: 'none' }).gradients;
  assert.ok(without[0] < without[11] / 10, 'as the answer says');
  const residual = sizesOf({ layers: 12, residual: true, norm: 'none' }).gradients;
  assert.ok(residual[0] > residual[11]);
  for (const size of sizesOf({ layers: 24, residual: true, norm: 'post' }).values) near(size, 1, 1e-6);
  const pre = sizesOf({ layers: 24, residual: true, norm: 'pre' });
  assert.ok(pre.values[23] > 1.5 * pre.values[0] && pre.gradients[0] > pre.gradients[23]);
  // The gradient at the last layer: with norms after the sums of one size, with norms before the sublayers by the depth.
  const last = (norm, layers) => sizesOf({ layers, residual: true, norm }).gradients[layers - 1];
  for (const layers of [2, 6, 12, 24]) near(last('post', layers), 0.8, 0.1);
  assert.ok(last('pre', 2) > 0.6 && last('pre', 24) < 0.35);
  near(last('pre', 24) * pre.values[23], 1, 0.2, 'the last norm divides by the size of the numbers:');
});

test('random numbers are the same on every visit, with mean 0 and variance 1', async () => {
  const { normal, uniform } = await figure('random');
  const take = (next, count) => Array.from({ length: count }, next);
  assert.deepEqual(take(uniform(7), 3), take(uniform(7), 3));
  const many = take(normal(7), 20_000);
  near(sum(many) / many.length, 0, 0.03);
  near(sum(many.map((value) => value * value)) / many.length, 1, 0.05);
});

test('axes have round numbers, and names of lines stand apart', async () => {
  const { apart, powers, ticks } = await figure('room');
  assert.deepEqual(ticks(0, 20_000, 4), [0, 5000, 10_000, 15_000, 20_000]);
  assert.deepEqual(ticks(1, 2, 6, 1), [1, 2], 'no layer between the first and the second');
  assert.deepEqual(powers(1, 1000, 5), [1, 10, 100, 1000]);
  assert.deepEqual(apart([50, 51, 20], 10, 0, 100), [50, 60, 20]);
  assert.deepEqual(apart([99, 98], 10, 0, 100), [100, 90]);
});

test('every section from 3.1 to 6.2 is a stop, with three answers of which one is right', async () => {
  const { CHOICES, STOPS } = await load('lecture/stops/stops.ts');
  const sections = [...new Set(STOPS.map(({ section }) => section))];
  assert.deepEqual(sections, ['3.1', '3.2', '3.2.1', '3.2.2', '3.2.3', '3.3', '3.4', '3.5', '4', '5.1', '5.2', '5.3', '5.4', '6.1', '6.2']);
  for (const { id, right } of STOPS) assert.ok(CHOICES.includes(right), id);
  const { ABLATIONS, TABLE_3: table } = await load('laboratory/ablation.ts');
  const experiments = STOPS.filter(({ experiment }) => experiment).map(({ experiment }) => experiment);
  assert.ok(experiments.length >= 10);
  for (const one of experiments) assert.ok(one === table || ABLATIONS.some(({ id }) => id === one), one);
  const { lectureWords } = await load('lecture/stops/words.ts');
  const whys = STOPS.filter(({ id }) => /^Why/.test(lectureWords(`s_${id}_title`)));
  assert.ok(whys.length >= 10, whys.map(({ id }) => id).join());
});

test('the first answer counts and is kept; a broken memory is forgotten', async () => {
  const memory = new Map([['wasmformer.lecture', '{"scale":"c","nothing":"a","heads":"x"}']]);
  globalThis.localStorage = { getItem: (key) => memory.get(key) ?? null, setItem: (key, value) => memory.set(key, value) };
  try {
    const { Score } = await load('lecture/stops/score.svelte.ts');
    const score = new Score();
    assert.deepEqual([score.answered, score.right], [1, 1]);
    score.answer('scale', 'a');
    score.answer('heads', 'a');
    assert.deepEqual([score.answered, score.right], [2, 1]);
    assert.deepEqual(JSON.parse(memory.get('wasmformer.lecture')), { scale: 'c', heads: 'a' });
    score.startOver();
    assert.equal(new Score().answered, 0);
    memory.set('wasmformer.lecture', 'not JSON');
    assert.equal(new Score().answered, 0);
  } finally {
    delete globalThis.localStorage;
  }
});

test('a training step of longer sentences takes longer, and an LSTM waits 4 times for each token', async () => {
  const [{ timeOf }, { LAYERS, LENGTHS, ofLstm, ofTransformer }] =
    await load(['lecture/figures/step-time.ts', 'lecture/figures/waiting.ts'], { wasmformer: await import('../../dist/index.js') });
  assert.deepEqual(LENGTHS.map(ofLstm), [32, 64, 128, 256, 512, 1024]);
  assert.equal(ofTransformer(LAYERS), 20);
  const [short, long] = [await timeOf(LENGTHS[0]), await timeOf(LENGTHS.at(-1))];
  assert.deepEqual([short.tokens, long.tokens], [8, 256]);
  assert.ok(short.milliseconds > 0 && long.milliseconds > 2 * short.milliseconds, JSON.stringify([short, long]));
  await assert.rejects(timeOf(8, AbortSignal.abort()), { name: 'AbortError' });
});
