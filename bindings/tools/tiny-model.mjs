// `node bindings/tools/tiny-model.mjs [OUTPUT]` trains the model of wasmformer/tiny.safetensors, which reverses the letters of
// a word: small enough for tests. The program for Node trains it, on one thread, so each machine gets the same bytes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { main, root, run } from './shell.mjs';

const sizes = { d_model: 32, num_heads: 4, ffn_dim: 64, encoder_layers: 2, decoder_layers: 1 };
const steps = 700;

export function trainTinyModel(output) {
  const folder = mkdtempSync(join(tmpdir(), 'wasmformer-tiny-'));
  const program = (...args) => run(process.execPath, [join(root, 'dist/cli.js'), ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    const settings = Object.entries(sizes).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
    program('train', '--task', 'reverse', ...settings, '--max-steps', String(steps), '--threads', '1', '--output', join(folder, 'run'));
    program('quantize', '--model', join(folder, 'run/best.safetensors'), '--output', output);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

await main(import.meta.url, ([output = join(root, 'bindings/tiny.safetensors')]) => trainTinyModel(resolve(output)));
