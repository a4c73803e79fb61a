// `npm run size`: what each feature costs: lines of code, lines of tests, and bytes in the package; then the modules and
// the packed file as users download them. A file belongs to the first feature with a pattern that its path contains.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { main, root } from './shell.mjs';

const features = [
  ['distributed training (MPI)', /distributed|ranks|gradient_sum|scaling/],
  ['ONNX', /onnx/],
  ['Marian, students, Mozilla', /marian|student|mozilla|shortlist|word_alignment|decompress|zstd/],
  ['Hugging Face, BERT', /hugging|bert|wordpiece|\bhub\b/],
  ['other containers', /exchange|state_dict|convert|conversion/],
  ['web pages', /webpages|pages|html|document|markup/i],
  ['pipeline', /pipeline|streamer/],
  ['one-file page', /one-file|standalone/],
  ['attention element', /element|^dist\/attention/],
  ['classifying and tagging', /annotat|classif|encoder|labels|crf|pooling|labelled/i],
  ['training', /train|optimizer|schedule|checkpoint|teacher|loss|augment|toy_tasks/],
  ['translation and search', /translat|search|beam|corpus|batch|bleu|metrics|evaluate|answers/],
  ['picture, lecture', /picture|lecture|tour|looks/],
  ['recipes of the models', /web\/models/],
  ['model', /\/(model|nn|bundle)\//],
  ['numbers', /\/(tensor|gemm|autograd|ops)\//],
  ['text', /\/text\/|tokenizer|unicode/],
  ['options and errors', /schema|options|errors|checks/],
  ['program', /\/cli|program/],
  ['package: api, worker', /bindings|^dist|tests\/js|tests\/npm/],
  ['page: shell', /^web|tests\/(web|e2e|browsers)/],
  ['benchmarks', /bench/],
  ['torture, fuzz', /torture|fuzz/],
  ['everything else', /./],
];
const isCode = (path) => /\.(cpp|h|ts|mjs|js|cjs|cmake|svelte|css|html|py|json)$/.test(path)
  && !/(^|\/)(node_modules|fixtures|public|work)\//.test(path);

function filesOf(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name))
    .filter((path) => statSync(join(root, path)).isFile());
}

const feature = (path) => features.find(([, pattern]) => pattern.test(path))[0];
const linesOf = (path) => readFileSync(join(root, path), 'utf8').split('\n').length - 1;
const thousands = (count) => (count ? count.toLocaleString('en') : '');

function ledger() {
  const sums = new Map(features.map(([name]) => [name, { lines: 0, tests: 0, cases: 0, bytes: 0 }]));
  const add = (path, key, count) => (sums.get(feature(path))[key] += count);
  for (const folder of ['src', 'bindings', 'web']) for (const path of filesOf(folder).filter(isCode)) add(path, 'lines', linesOf(path));
  for (const path of filesOf('tests').filter(isCode)) {
    add(path, 'tests', linesOf(path));
    add(path, 'cases', readFileSync(join(root, path), 'utf8').match(/^\s*(TEST_CASE|test)\(/gm)?.length ?? 0);
  }
  for (const path of filesOf('dist').filter((path) => !path.includes('/wasm/'))) add(path, 'bytes', statSync(join(root, path)).size);
  return sums;
}

function row(cells) {
  return cells.map((cell, i) => (i === 0 ? cell.padEnd(32) : String(cell).padStart(12))).join('');
}

function printLedger() {
  const sums = ledger();
  console.log(row(['feature', 'lines', 'test lines', 'tests', 'dist bytes']));
  const total = { lines: 0, tests: 0, cases: 0, bytes: 0 };
  for (const [name, counts] of sums) {
    console.log(row([name, ...Object.values(counts).map(thousands)]));
    for (const key of Object.keys(total)) total[key] += counts[key];
  }
  console.log(row(['total', ...Object.values(total).map(thousands)]));
}

function printDownloads() {
  console.log(`\n${row(['module', 'bytes', 'brotli', 'KB brotli'])}`);
  for (const path of filesOf('dist/wasm').filter((path) => path.endsWith('.wasm'))) {
    const bytes = readFileSync(join(root, path));
    const small = brotliCompressSync(bytes).length;
    console.log(row([path.replace('dist/wasm/', ''), thousands(bytes.length), thousands(small), (small / 1000).toFixed(1)]));
  }
  const script = join(root, 'dist/worker/worker.js');
  if (existsSync(script)) console.log(row(['worker/worker.js', thousands(statSync(script).size), thousands(brotliCompressSync(readFileSync(script)).length)]));
  // In one call, as npm packs it; the script that packs builds first, which this must not.
  const { status, stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root, encoding: 'utf8' });
  if (status === 0 && existsSync(join(root, 'dist'))) {
    const [{ size, unpackedSize }] = JSON.parse(stdout);
    console.log(row(['packed file', thousands(unpackedSize), '', (size / 1000).toFixed(1)]));
  }
  const page = join(root, 'build/page/assets');
  if (!existsSync(page)) return;
  const scripts = readdirSync(page).filter((name) => /\.(js|css)$/.test(name)).map((name) => readFileSync(join(page, name)));
  const sum = (all) => all.reduce((total, { length }) => total + length, 0);
  console.log(row(['the page, its scripts and styles', thousands(sum(scripts)), '', (sum(scripts.map((text) => gzipSync(text))) / 1000).toFixed(1)]));
}

await main(import.meta.url, () => {
  printLedger();
  if (existsSync(join(root, 'dist'))) printDownloads();
  else console.log('\nThere is no dist: `npm run build` makes what is shipped.');
});
