// ONNX Runtime: onnxruntime-web in a page, onnxruntime-node in Node.
import { bos, sentences, shapes } from '../data.mjs';
import { loopGraph, matrixProduct, stepGraphs } from '../onnx.mjs';
import { gemmRate, gemmSizes, random, sample, translated } from './sample.mjs';

export async function load() {
  if (typeof window === 'undefined') {
    const { createRequire } = await import('node:module');
    const packages = new URL('../../../build/bench/peers/node_modules/', import.meta.url);
    const ort = createRequire(packages)('onnxruntime-node');
    return { ort, options: { intraOpNumThreads: 1, interOpNumThreads: 1, graphOptimizationLevel: 'all' } };
  }
  const folder = '/build/bench/peers/node_modules/onnxruntime-web/dist/';
  const ort = await import(`${folder}ort.wasm.bundle.min.mjs`);
  ort.env.wasm.wasmPaths = folder;
  ort.env.wasm.numThreads = 1;
  ort.env.logLevel = 'error';
  return { ort, options: { executionProviders: ['wasm'], graphOptimizationLevel: 'all' } };
}

async function gemm({ ort, options }) {
  const products = [];
  for (const size of gemmSizes) {
    for (const precision of ['f32', 'int8']) {
      const bytes = matrixProduct(size, random(size[1] * size[2]), precision);
      const session = await ort.InferenceSession.create(bytes, options);
      const A = new ort.Tensor('float32', random(size[0] * size[1]), size.slice(0, 2));
      products.push([`gemm ${precision} ${size.join('x')}`, size, () => session.run({ A })]);
    }
  }
  return async (ms) => {
    const figures = {};
    for (const [name, size, product] of products) figures[name] = await gemmRate(size, product, ms);
    return figures;
  };
}

async function translate({ ort, options }, { shape: name, precision, mode, batches }) {
  const shape = shapes[name];
  const open = (bytes) => ort.InferenceSession.create(bytes, options);
  const int64 = (values, dims) => new ort.Tensor('int64', BigInt64Array.from(values, BigInt), dims);
  const source = (batch) => int64(sentences(shape, batch), [batch, shape.tokens]);
  // Each decodes a batch and returns the last token of each sentence.
  const modes = {
    async loop() {
      const session = await open(loopGraph(shape, precision));
      return async (batch) => {
        const { tokens } = await session.run({ source: source(batch) });
        return Array.from(tokens.data, Number).filter((_, i) => i % shape.tokens === shape.tokens - 1);
      };
    },
    async step() {
      const [encoder, decoder] = await Promise.all(stepGraphs(shape, precision).map(open));
      return async (batch) => {
        const feed = await encoder.run({ source: source(batch) });
        const dims = [batch, shape.heads, 0, shape.d / shape.heads];
        const none = () => new ort.Tensor('float32', new Float32Array(0), dims);
        for (let i = 0; i < shape.layers; i++) Object.assign(feed, { [`pk${i}`]: none(), [`pv${i}`]: none() });
        feed.ids = int64(Array(batch).fill(bos), [batch, 1]);
        for (let at = 0; at < shape.tokens; at++) {
          feed.at = int64([at], [1]);
          const { next, ...present } = await decoder.run(feed);
          for (const [key, value] of Object.entries(present)) feed[key.replace('n', 'p')] = value;
          feed.ids = next;
        }
        return Array.from(feed.ids.data, Number);
      };
    },
  };
  const decode = await modes[mode]();
  return async (ms) => {
    const figures = { ids: await decode(batches.at(-1)) };
    for (const batch of batches) {
      Object.assign(figures, translated(batch, shape.tokens, await sample(() => decode(batch), ms)));
    }
    return figures;
  };
}

export default async function ({ task, ...params }) {
  const runtime = await load();
  return task === 'gemm' ? gemm(runtime) : translate(runtime, params);
}
