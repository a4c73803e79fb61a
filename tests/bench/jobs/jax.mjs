// jax-js with its wasm backend, one thread. It counts references: `.ref` keeps a value for another use.
import { shapes } from '../data.mjs';
import { trainingData, transposedWeights } from './training.mjs';
import { gemmRate, gemmSizes, random, sample } from './sample.mjs';

async function load() {
  // The number of its workers.
  Object.defineProperty(navigator, 'hardwareConcurrency', { value: 1, configurable: true });
  const jax = await import('/build/bench/peers/node_modules/@jax-js/jax/dist/index.js');
  if (!(await jax.init('wasm')).includes('wasm')) throw new Error('jax-js has no wasm backend');
  jax.defaultDevice('wasm');
  return jax;
}

function gemm({ numpy: np, jit, blockUntilReady }) {
  const multiply = jit((a, b) => np.matmul(a, b));
  const products = gemmSizes.map(([m, k, n]) => {
    const a = np.array(random(m * k)).reshape([m, k]);
    const b = np.array(random(k * n)).reshape([k, n]);
    return [[m, k, n], async () => {
      const c = multiply(a.ref, b.ref);
      await blockUntilReady(c); // nothing is computed before it is wanted
      c.dispose();
    }];
  });
  return async (ms) => {
    const figures = {};
    for (const [size, product] of products) figures[`gemm f32 ${size.join('x')}`] = await gemmRate(size, product, ms);
    return figures;
  };
}

function train(jax, name) {
  const { numpy: np, nn } = jax;
  const shape = shapes[name];
  const { d, heads, layers, vocabulary, tokens, pairs } = shape;
  const array = (data, dims) => np.array(data).reshape(dims);
  let parameters = {};
  let means = {};
  let variances = {};
  for (const [key, { shape: dims, data }] of transposedWeights(shape)) {
    parameters[key] = array(data, dims);
    means[key] = np.zeros(dims);
    variances[key] = np.zeros(dims);
  }
  const data = trainingData(shape);
  const constants = [
    ...[data.source, data.input, data.source].map((list) => np.array(list, { dtype: np.int32 })),
    array(data.positions, [1, tokens, d]), array(data.causal, [1, 1, tokens, tokens]),
  ];

  function lossOf(w, source, input, target, at, mask) {
    const linear = (x, key) => np.matmul(x, w[`${key}.weight`]).add(w[`${key}.bias`]);
    const norm = (x, key) => nn.standardize(x, -1, { epsilon: 1e-5 }).mul(w[`${key}.weight`]).add(w[`${key}.bias`]);
    const split = (x, order) => np.transpose(x.reshape([pairs, tokens, heads, d / heads]), order);
    const attention = (x, memory, key, bias) => {
      const q = split(linear(x, `${key}.q_proj`), [0, 2, 1, 3]);
      const k = split(linear(memory.ref, `${key}.k_proj`), [0, 2, 3, 1]);
      const v = split(linear(memory, `${key}.v_proj`), [0, 2, 1, 3]);
      const scores = np.matmul(q, k).mul((d / heads) ** -0.5);
      const mixed = np.matmul(nn.softmax(bias ? scores.add(bias) : scores, -1), v);
      return linear(np.transpose(mixed, [0, 2, 1, 3]).reshape([pairs * tokens, d]), `${key}.out_proj`);
    };
    const attend = (x, memory, key, bias) => norm(x.ref.add(attention(x, memory, key, bias)), `${key}_layer_norm`);
    const feedForward = (x, key) =>
      norm(x.ref.add(linear(nn.relu(linear(x, `${key}.fc1`)), `${key}.fc2`)), `${key}.final_layer_norm`);
    const embed = (list, where) => w['model.shared.weight'].ref.slice(list).mul(Math.sqrt(d))
      .reshape([pairs, tokens, d]).add(where).reshape([pairs * tokens, d]);
    let x = embed(source, at.ref);
    let y = embed(input, at);
    for (let i = 0; i < layers; i++) {
      const layer = `model.encoder.layers.${i}`;
      x = feedForward(attend(x.ref, x, `${layer}.self_attn`), layer);
    }
    for (let i = 0; i < layers; i++) {
      const layer = `model.decoder.layers.${i}`;
      y = attend(y.ref, y, `${layer}.self_attn`, mask.ref);
      y = feedForward(attend(y, x.ref, `${layer}.encoder_attn`), layer);
    }
    x.dispose();
    mask.dispose();
    const scores = np.matmul(y, np.transpose(w['model.shared.weight'])).add(w.final_logits_bias);
    const chosen = nn.logSoftmax(scores, -1).mul(nn.oneHot(target, vocabulary));
    return chosen.sum().mul(-1 / (pairs * tokens));
  }

  const [beta1, beta2, epsilon, rate] = [0.9, 0.999, 1e-8, 1e-3];
  const adam = (w, m, v, gradients, scale1, scale2) => {
    const next = { w: {}, m: {}, v: {} };
    for (const key of Object.keys(w)) {
      next.m[key] = m[key].mul(beta1).add(gradients[key].ref.mul(1 - beta1));
      next.v[key] = v[key].mul(beta2).add(np.square(gradients[key]).mul(1 - beta2));
      const size = np.sqrt(next.v[key].ref.mul(scale2.ref)).add(epsilon);
      next.w[key] = w[key].sub(next.m[key].ref.mul(scale1.ref).div(size).mul(rate));
    }
    scale1.dispose();
    scale2.dispose();
    return next;
  };
  const update = jax.jit((w, m, v, scale1, scale2, ...rest) => {
    const [loss, gradients] = jax.valueAndGrad(lossOf)(jax.tree.ref(w), ...rest);
    return { loss, ...adam(w, m, v, gradients, scale1, scale2) };
  });
  const losses = [];
  let steps = 0;
  const step = async () => {
    steps++;
    const scales = [beta1, beta2].map((beta) => np.array(1 / (1 - beta ** steps)));
    const { loss, w, m, v } = update(parameters, means, variances, ...scales, ...constants.map((item) => item.ref));
    [parameters, means, variances] = [w, m, v];
    await jax.blockUntilReady(w);
    losses.push(await loss.jsAsync());
  };
  return async (ms) => ({ 'ms a step': await sample(step, ms), losses: losses.slice(0, 2) });
}

export default async function ({ task, shape }) {
  const jax = await load();
  return task === 'gemm' ? gemm(jax) : train(jax, shape);
}
