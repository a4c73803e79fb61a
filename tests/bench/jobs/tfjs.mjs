// TensorFlow.js with its wasm backend, one thread.
import { shapes } from '../data.mjs';
import { trainingData, transposedWeights } from './training.mjs';
import { gemmRate, gemmSizes, random, sample } from './sample.mjs';

async function load() {
  const folder = '/build/bench/peers/node_modules/@tensorflow/';
  for (const file of ['tfjs/dist/tf.min.js', 'tfjs-backend-wasm/dist/tf-backend-wasm.min.js']) {
    await new Promise((resolve, reject) => {
      const script = document.createElement('script');
      document.head.append(Object.assign(script, { src: folder + file, onload: resolve, onerror: reject }));
    });
  }
  const { tf } = globalThis;
  tf.wasm.setWasmPaths(`${folder}tfjs-backend-wasm/dist/`);
  tf.wasm.setThreadsCount(1);
  if (!(await tf.setBackend('wasm'))) throw new Error('TensorFlow.js has no wasm backend');
  await tf.ready();
  return tf;
}

function gemm(tf) {
  const products = gemmSizes.map(([m, k, n]) => {
    const a = tf.tensor2d(random(m * k), [m, k]);
    const b = tf.tensor2d(random(k * n), [k, n]);
    return [[m, k, n], () => tf.matMul(a, b).dispose()];
  });
  return async (ms) => {
    const figures = {};
    for (const [size, product] of products) figures[`gemm f32 ${size.join('x')}`] = await gemmRate(size, product, ms);
    return figures;
  };
}

// The backend has no kernel for the gradient of an embedding.
function addSegmentSum(tf) {
  tf.registerKernel({
    kernelName: 'UnsortedSegmentSum',
    backendName: 'wasm',
    kernelFunc({ inputs: { x, segmentIds }, attrs: { numSegments }, backend }) {
      const out = backend.makeOutput([numSegments, ...x.shape.slice(segmentIds.shape.length)], 'float32');
      const [values, ids, sums] = [x, segmentIds, out].map((tensor) => backend.typedArrayFromHeap(tensor));
      const width = values.length / ids.length;
      sums.fill(0);
      for (let i = 0; i < ids.length; i++) {
        for (let j = 0; j < width; j++) sums[ids[i] * width + j] += values[i * width + j];
      }
      return out;
    },
  });
}

function train(tf, name) {
  const shape = shapes[name];
  const { d, heads, layers, vocabulary, tokens, pairs } = shape;
  addSegmentSum(tf);
  const w = {};
  for (const [key, { shape: dims, data }] of transposedWeights(shape)) w[key] = tf.variable(tf.tensor(data, dims));
  const data = trainingData(shape);
  const source = tf.tensor1d(data.source, 'int32');
  const input = tf.tensor1d(data.input, 'int32');
  const target = tf.oneHot(tf.tensor1d(data.source, 'int32'), vocabulary).toFloat();
  const places = tf.tensor(data.positions, [1, tokens, d]);
  const causal = tf.tensor(data.causal, [1, 1, tokens, tokens]);

  const linear = (x, key) => tf.add(tf.matMul(x, w[`${key}.weight`]), w[`${key}.bias`]);
  const norm = (x, key) => {
    const centred = tf.sub(x, tf.mean(x, -1, true));
    const scale = tf.rsqrt(tf.add(tf.mean(tf.square(centred), -1, true), 1e-5));
    return tf.add(tf.mul(tf.mul(centred, scale), w[`${key}.weight`]), w[`${key}.bias`]);
  };
  const split = (x) => tf.transpose(tf.reshape(x, [pairs, tokens, heads, d / heads]), [0, 2, 1, 3]);
  const attention = (x, memory, key, mask) => {
    const [q, k, v] = [[x, 'q'], [memory, 'k'], [memory, 'v']]
      .map(([from, part]) => split(linear(from, `${key}.${part}_proj`)));
    const scores = tf.mul(tf.matMul(q, k, false, true), (d / heads) ** -0.5);
    const mixed = tf.matMul(tf.softmax(mask ? tf.add(scores, mask) : scores), v);
    return linear(tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [pairs * tokens, d]), `${key}.out_proj`);
  };
  const attend = (x, memory, key, mask) => norm(tf.add(x, attention(x, memory, key, mask)), `${key}_layer_norm`);
  const feedForward = (x, key) =>
    norm(tf.add(x, linear(tf.relu(linear(x, `${key}.fc1`)), `${key}.fc2`)), `${key}.final_layer_norm`);
  const embed = (ids) => {
    const rows = tf.reshape(tf.mul(tf.gather(w['model.shared.weight'], ids), Math.sqrt(d)), [pairs, tokens, d]);
    return tf.reshape(tf.add(rows, places), [pairs * tokens, d]);
  };
  const loss = () => {
    let x = embed(source);
    let y = embed(input);
    for (let i = 0; i < layers; i++) {
      x = feedForward(attend(x, x, `model.encoder.layers.${i}.self_attn`), `model.encoder.layers.${i}`);
    }
    for (let i = 0; i < layers; i++) {
      const layer = `model.decoder.layers.${i}`;
      y = attend(y, y, `${layer}.self_attn`, causal);
      y = feedForward(attend(y, x, `${layer}.encoder_attn`), layer);
    }
    const scores = tf.add(tf.matMul(y, w['model.shared.weight'], false, true), w.final_logits_bias);
    return tf.losses.softmaxCrossEntropy(target, scores);
  };
  const adam = tf.train.adam(1e-3, 0.9, 0.999, 1e-8);
  const losses = [];
  const step = async () => {
    const value = adam.minimize(loss, true);
    losses.push((await value.data())[0]);
    value.dispose();
  };
  return async (ms) => ({ 'ms a step': await sample(step, ms), losses: losses.slice(0, 2) });
}

export default async function ({ task, shape }) {
  const tf = await load();
  return task === 'gemm' ? gemm(tf) : train(tf, shape);
}
