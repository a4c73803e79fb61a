// What Bergamot's npm package makes of a folder of `export-marian --format bin`, one text a call:
// node tests/bench/student.mjs FOLDER [float32 | int8shiftAlphaAll | int8shiftAll] < texts
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { root } from '../../bindings/tools/shell.mjs';
import { installPeers } from './peers.mjs';

installPeers(console.error);
const [folder, precision = 'float32'] = process.argv.slice(2);
const scripts = join(root, 'build/bench/peers/node_modules/@browsermt/bergamot-translator/worker');
writeFileSync(join(scripts, 'package.json'), '{"type":"commonjs"}'); // missing in 0.4.9
const worker = new Worker(join(scripts, 'translator-worker.js'));
const waiting = new Map();
worker.on('message', ({ id, result, error }) =>
  (error ? waiting.get(id).reject(new Error(error.message)) : waiting.get(id).resolve(result)));
const call = (name, ...args) => new Promise((resolve, reject) => {
  const id = waiting.size;
  waiting.set(id, { resolve, reject });
  worker.postMessage({ id, name, args });
});
const file = (start) => {
  const name = readdirSync(folder).find((entry) => entry.startsWith(start));
  return name && Uint8Array.from(readFileSync(join(folder, name))).buffer;
};

await call('initialize', { cacheSize: 0 });
const shared = file('vocab');
await call('loadTranslationModel', { from: 'de', to: 'en' }, {
  model: file('model'), shortlist: file('lex') ?? new ArrayBuffer(0),
  vocabs: shared ? [shared] : [file('srcvocab'), file('trgvocab')],
  config: { 'check-bytearray': 'false', 'gemm-precision': precision },
});
for (const text of readFileSync(0, 'utf8').split('\n').slice(0, -1)) {
  const [{ target }] = await call('translate', { models: [{ from: 'de', to: 'en' }], texts: [{ text, html: false, qualityScores: false }] });
  console.log(target.text);
}
process.exit(0);
