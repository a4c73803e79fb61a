// `npm run bench [-- --json]`: sizes of the module, and how fast the bundled model loads and translates, natively and
// as WebAssembly in Node, one thread. Figures depend on the machine and on what else it does: compare within one run.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { brotliCompressSync } from 'node:zlib';
import { Engine } from '../../dist/engine.js';

setFlagsFromString('--experimental-wasm-relaxed-simd'); // Node before 21
const root = join(import.meta.dirname, '../..');
const path = (name) => join(root, name);
const model = path('web/public/models/de-en.safetensors');
const sentences = readFileSync(path('tests/fixtures/tatoeba-en-de-test-200.tsv'), 'utf8').trim().split('\n')
  .map((line) => line.split('\t')[1]);
const rows = [];
const add = (name, value, unit) => rows.push({ name, value: Number(value.toPrecision(4)), unit });
const seconds = (body) => {
  const start = performance.now();
  const result = body();
  return [(performance.now() - start) / 1000, result];
};
const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

for (const build of ['relaxed', 'simd']) {
  for (const file of ['wasmformer.wasm', 'wasmformer.mjs']) {
    const bytes = readFileSync(path(`dist/wasm/${build}/${file}`));
    add(`${build} ${file}, raw`, bytes.length / 1000, 'KB');
    add(`${build} ${file}, brotli`, brotliCompressSync(bytes).length / 1000, 'KB');
  }
  const engine = await Engine.create(build);
  const bytes = new Uint8Array(readFileSync(model));
  add(`${build}, load the model`, median([1, 2, 3].map(() => seconds(() => engine.load(bytes))[0])) * 1000, 'ms');
  for (const beamSize of [1, 4]) {
    for (const batch of [1, 32]) {
      const texts = sentences.slice(0, 32);
      const rates = [1, 2, 3].map(() => {
        const [time, tokens] = seconds(() => {
          let count = 0;
          for (let i = 0; i < texts.length; i += batch)
            for (const t of engine.translate(texts.slice(i, i + batch), { beamSize })) count += t.targetTokens.length;
          return count;
        });
        return tokens / time;
      });
      add(`${build}, translate, beam ${beamSize}, batch ${batch}`, median(rates), 'tokens/s');
    }
  }
  add(`${build}, memory`, engine.memoryBytes / 1e6, 'MB');
  engine.dispose();
}

const program = path('build/native/wasmformer');
if (existsSync(program)) {
  for (const beamSize of [1, 4]) {
    const { stdout } = spawnSync(program, ['evaluate', '--model', model, '--data', path('tests/fixtures/tatoeba-en-de-test-200.tsv'),
      '--columns', '1,0', '--beam-size', String(beamSize), '--json'], { encoding: 'utf8' });
    add(`native, translate 200 sentences, beam ${beamSize}`, JSON.parse(stdout).tokens_per_second, 'tokens/s');
  }
}

if (process.argv.includes('--json')) console.log(JSON.stringify(rows, null, 2));
else for (const { name, value, unit } of rows) console.log(`${name.padEnd(48)} ${String(value).padStart(10)} ${unit}`);
