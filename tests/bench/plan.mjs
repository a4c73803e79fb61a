// What is measured, and what must come out.
import { join } from 'node:path';
import { root } from '../../bindings/tools/shell.mjs';
import { bench } from './driver.mjs';

const chromium = 'wasmformer in Chromium';
const native = 'wasmformer native';
const bare = 'without the package';
const ort = 'ONNX Runtime Web';
const ortNative = 'ONNX Runtime native';
const bergamot = 'Bergamot';
const fxtranslate = 'fxtranslate';
const tfjs = 'TensorFlow.js';
const jax = 'jax-js';
const torch = 'PyTorch native';
const forms = ['f32, step', 'f32, loop', 'int8, step', 'int8, loop'];
const batches = { T: [1, 32], B: [1, 8] };
const tokens = { T: 16, B: 20 };
const pairs = { S: 64, T: 32 };
const sizes = ['64x256x1024', '256x512x2048', '512x512x512'];

// The files that native programs read: [shape, precision].
export const modelFiles = [['S', 'f32'], ['T', 'f32'], ['T', 'int8'], ['B', 'f32'], ['B', 'int8']];
export const modelPath = (shape, precision) => join(root, `build/bench/${shape}.${precision}.safetensors`);
const withThreads = (who, count) => (count === 1 ? who : `${who}, ${count} threads`);

// A recurrent decoder (SSRU), as Firefox's students have.
const student = (who, hasShortlist) => `${who}, student${hasShortlist ? ', shortlist' : ''}`;

// A job of jobs/, in a page of its own. `prefix` begins the names of its figures.
const page = (title, who, module, params, more = {}) => ({ title, who, kind: 'page', module, params, ...more });
const nativeJob = (title, who, args, prefix) => ({ title, who, kind: 'native', program: bench, args, prefix });
// wasmformer_bench as a module.
function moduleJob(title, who, build, command, shape, prefix) {
  return page(title, who, 'module.mjs', { build, command, shape, precision: 'f32' }, { inWorker: true, prefix });
}

function kernels() {
  return {
    own: [
      moduleJob('kernels', chromium, 'relaxed', ['kernels']),
      moduleJob('kernels', `${chromium}, plain SIMD`, 'simd', ['kernels']),
      nativeJob('kernels', native, ['kernels']),
    ],
    others: [
      page('kernels', ort, 'ort.mjs', { task: 'gemm' }),
      page('kernels', tfjs, 'tfjs.mjs', { task: 'gemm' }),
      page('kernels', jax, 'jax.mjs', { task: 'gemm' }),
    ],
  };
}

function translation(shape) {
  const title = `translation ${shape}`;
  const kinds = [1, 2].flatMap((threads) => ['f32', 'int8'].map((precision) => [threads, precision]));
  const own = kinds.flatMap(([threads, precision]) => [
    page(title, withThreads(`${chromium}, ${precision}`, threads), 'translator.mjs',
      { shape, precision, threads, batches: batches[shape] }, { prefix: title }),
    ...batches[shape].map((batch) => nativeJob(title, withThreads(`${native}, ${precision}`, threads),
      ['translate', modelPath(shape, precision), threads, batch, tokens[shape]], `${title}, batch ${batch}`)),
  ]);
  const others = forms.flatMap((form) => {
    const [precision, mode] = form.split(', ');
    const params = { task: 'translate', shape, precision, mode, batches: batches[shape] };
    return [
      page(title, `${ort}, ${form}`, 'ort.mjs', params, { prefix: title }),
      { title, who: `${ortNative}, ${form}`, kind: 'node', module: 'ort.mjs', params, prefix: title },
    ];
  });
  others.push(page(title, bergamot, 'bergamot.mjs', { shape, batches: batches[shape] }, { prefix: title }));
  for (const hasShortlist of [false, true]) {
    const params = { shape, batches: batches[shape], isStudent: true, hasShortlist };
    own.push(page(title, student(chromium, hasShortlist), 'student.mjs', params, { prefix: title }));
    others.push(page(title, student(bergamot, hasShortlist), 'bergamot.mjs', params, { prefix: title }));
  }
  return { own, others };
}

function training(shape) {
  const title = `training ${shape}`;
  const own = [1, 2].flatMap((threads) => [
    moduleJob(title, withThreads(chromium, threads), threads === 1 ? 'relaxed' : 'relaxed-threads',
      ['train', '/model', pairs[shape], threads], shape, title),
    nativeJob(title, withThreads(native, threads), ['train', modelPath(shape, 'f32'), pairs[shape], threads], title),
  ]);
  const program = join(root, 'tests/bench/torch_train.py');
  const others = [
    page(title, tfjs, 'tfjs.mjs', { task: 'train', shape }, { prefix: title }),
    page(title, jax, 'jax.mjs', { task: 'train', shape }, { prefix: title }),
    { title, who: torch, kind: 'native', program: '/usr/bin/python3', prefix: title,
      args: [program, modelPath(shape, 'f32'), pairs[shape]] },
  ];
  return { own, others };
}

function rest() {
  const engine = (prefix, params) =>
    page(prefix, `${chromium}, int8`, 'engine.mjs', { precision: 'int8', ...params }, { prefix, inWorker: true });
  return {
    own: [
      engine('translation B, batch 8', { task: 'memory', shape: 'B', batch: 8 }),
      engine('translation T, batch 1', { task: 'positions', shape: 'T' }),
      moduleJob('translation T', `${chromium}, f32, ${bare}`, 'relaxed', ['translate', '/model', 1, 32, 16], 'T',
        'translation T, batch 32'),
      page('load', chromium, 'load.mjs', {}),
    ],
    others: [],
  };
}

// What is measured side by side.
export const groups = {
  kernels: kernels(), 'translation T': translation('T'), 'translation B': translation('B'),
  'training S': training('S'), 'training T': training('T'), rest: rest(),
};

// Of `--real`: the first `blocks` blocks of a chapter. The jobs warm up while they are opened. fxtranslate's package
// computes without SIMD, takes minutes for a tenth of the text and gains nothing from more of it.
const students = ['tiny', 'base-memory', 'base'];
const readers = { wasmformer: chromium, bergamot, ort: `${ort}, int8`, fxtranslate };
export const chapterJobs = (blocks) => students.map((shape) => {
  const prefix = `chapter, ${shape}`;
  return Object.entries(readers).map(([engine, who]) => {
    const params = { engine, shape, blocks: engine === 'fxtranslate' ? Math.ceil(blocks / 10) : blocks };
    return page(prefix, who, 'chapter.mjs', params, { prefix });
  });
});

// What must come out. `of` over the best of `to` in the same round where there is one, else `of` itself, must be at
// least `goal`; with `atMost`, at most.
export const goals = [];
function goal(of, to, peer, value, atMost = false) {
  goals.push({ of, to: [to ?? []].flat(), peer, goal: value, atMost });
}
const limit = (of, value) => goal(of, undefined, undefined, value, true);

for (const size of sizes) {
  goal(`gemm f32 ${size}: ${chromium}`, `peak f32: ${chromium}`, 'register peak', 0.8);
  goal(`gemm f32 ${size}: ${chromium}`, `gemm f32 ${size}: ${ort}`, ort, 1.4);
  goal(`gemm f32 ${size}: ${chromium}`, `gemm f32 ${size}: ${tfjs}`, tfjs, 1.2);
  goal(`gemm int8 ${size}: ${chromium}`, `peak int8: ${chromium}`, 'register peak', 0.65);
  goal(`gemm int8 ${size}: ${chromium}`, `gemm int8 ${size}: ${ort}`, `${ort}, int8`, 1.8);
}
goal(`gemm f32 1x256x8192: ${chromium}`, `gemm f32 1x256x8192: ${ort}`, ort, 1);
goal(`gemm int8 1x256x8192: ${chromium}`, `gemm f32 1x256x8192: ${ort}`, `${ort}, f32`, 2.5);

function best(what, who, kind = '') {
  return forms.filter((form) => form.startsWith(kind)).map((form) => `${what}: ${who}, ${form}`);
}
for (const [shape, overOrt, overBergamot] of [['T', [2.5, 2], [5, 4]], ['B', [2.5, 2], [2, 3]]]) {
  batches[shape].forEach((batch, i) => {
    const what = `translation ${shape}, batch ${batch}, tokens/s`;
    goal(`${what}: ${chromium}, int8`, best(what, ort), `${ort}, best`, overOrt[i]);
    goal(`${what}: ${chromium}, int8`, `${what}: ${bergamot}`, bergamot, overBergamot[i]);
    goal(`${what}: ${native}, int8`, best(what, ortNative, 'int8'), `${ortNative}, int8`, 1.2);
    goal(`${what}: ${student(chromium, true)}`, `${what}: ${student(bergamot, true)}`, student(bergamot, true), 3);
  });
}
const tBatch32 = 'translation T, batch 32, tokens/s';
goal(`${tBatch32}: ${chromium}, int8`, best(tBatch32, ortNative, 'f32'), `${ortNative}, f32`, 1);
goal(`${tBatch32}: ${student(chromium, true)}`, best(tBatch32, ort), `${ort}, best`, 2.5);
for (const precision of ['f32', 'int8']) {
  const who = `${chromium}, ${precision}`;
  goal(`${tBatch32}: ${withThreads(who, 2)}`, `${tBatch32}: ${who}`, '1 thread', 1.8);
}

for (const [shape, overTfjs, overJax] of [['S', 8, 3], ['T', 10, 4]]) {
  const step = `training ${shape}, ms a step`;
  goal(`${step}: ${chromium}`, `${step}: ${tfjs}`, tfjs, overTfjs);
  goal(`${step}: ${chromium}`, `${step}: ${jax}`, jax, overJax);
}
const step = 'training T, ms a step';
goal(`${step}: ${chromium}`, `${step}: ${torch}`, torch, 0.6);
goal(`${step}: ${withThreads(chromium, 2)}`, `${step}: ${chromium}`, '1 thread', 1.7);
for (const shape of ['S', 'T']) limit(`training ${shape}, heap growth: ${chromium}`, 0);
limit(`translation T, batch 32, heap growth: ${chromium}, f32, ${bare}`, 0);
limit(`translation B, batch 8, memory growth: ${chromium}, int8`, 0);
limit(`training T, module memory: ${chromium}`, 120);
limit(`translation B, batch 8, module memory: ${chromium}, int8`, 150);

for (const shape of students) {
  for (const [part, overBergamot] of [['sentence by sentence', 4], ['all at once', 2]]) {
    const [speed, memory] = ['words/s', 'memory'].map((what) => `chapter, ${shape}, ${part}, ${what}`);
    goal(`${speed}: ${chromium}`, `${speed}: ${bergamot}`, bergamot, overBergamot);
    goal(`${speed}: ${chromium}`, `${speed}: ${ort}, int8`, `${ort}, int8`, 1);
    goal(`${speed}: ${chromium}`, `${speed}: ${fxtranslate}`, fxtranslate, 1);
    goal(`${memory}: ${chromium}`, `${memory}: ${bergamot}`, bergamot, 1, true);
  }
}

const position = 'translation T, batch 1, ms a token at target position';
goal(`${position} 512: ${chromium}, int8`, `${position} 16: ${chromium}, int8`, 'position 16', 1.3, true);
limit(`ms from load to first token: ${chromium}`, 300);

// Measured on one machine; there is no peer to run beside.
const multi30k = 'multi30k-tiny, target tokens/s';
goal(`${multi30k}: ${native}`, undefined, 'PyTorch as it comes 5,480 × 1.5, tuned 8,060', 8220);
goal(`${multi30k}: ${withThreads(native, 2)}`, undefined, 'PyTorch, two tuned processes 14,900 × 1.1', 16390);
