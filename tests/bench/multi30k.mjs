// Training of `multi30k-tiny` by the program itself on Multi30k, German to English, 4,096 tokens a batch.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../bindings/tools/shell.mjs';

const program = join(root, 'build/native/wasmformer');
const results = join(root, 'build/bench');

export function run(args) {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (status !== 0) throw new Error(`wasmformer ${args[0]} failed: ${stderr.trim().split('\n').at(-1)}`);
  return stdout;
}

/** 8,000 joint pieces of BPE. */
export function multi30kTokenizer(folder, log) {
  const tokenizer = join(results, 'multi30k.model');
  if (existsSync(tokenizer)) return tokenizer;
  log('training a tokenizer for Multi30k');
  run(['tokenizer', '--input', join(folder, 'train.de.gz'), join(folder, 'train.en.gz'), '--vocab-size', '8000',
    '--type', 'bpe', '--output', tokenizer]);
  return tokenizer;
}

/** `folder` holds train.{de,en}.gz and val.{de,en}.gz. */
export function multi30k(folder, figures, { rounds, quick, log }) {
  const file = (name) => join(folder, name);
  const tokenizer = multi30kTokenizer(folder, log);
  const steps = quick ? 20 : 100;
  for (let round = 0; round < rounds; round++) {
    for (const threads of [1, 2]) {
      const output = join(results, 'multi30k');
      rmSync(output, { recursive: true, force: true });
      log(`multi30k-tiny, ${threads} threads, ${steps} steps`);
      run(['train', '--source', file('train.de.gz'), '--target', file('train.en.gz'),
        '--valid-source', file('val.de.gz'), '--valid-target', file('val.en.gz'), '--tokenizer', tokenizer,
        '--preset', 'multi30k-tiny', '--output', output, '--max-steps', String(steps), '--batch-tokens', '4096',
        '--threads', String(threads)]);
      const reports = readFileSync(join(output, 'log.jsonl'), 'utf8').trim().split('\n').map(JSON.parse);
      const rate = reports.map((report) => report.target_tokens_per_second).find(Number.isFinite);
      const name = `multi30k-tiny, target tokens/s: wasmformer native${threads === 1 ? '' : ', 2 threads'}`;
      if (!figures.has(name)) figures.set(name, []);
      figures.get(name).push(rate);
    }
  }
}
