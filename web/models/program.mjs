// Translations by the native program, with beam search.
import { spawnSync } from 'node:child_process';

/** Translates texts of one line each. @throws Error with what the program says, if it fails */
export function translate(program, model, texts, options = []) {
  const args = ['translate', '--model', model, '--beam-size', '4', ...options];
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    input: texts.map((text) => `${text}\n`).join(''), encoding: 'utf8', maxBuffer: 1 << 28,
  });
  if (status !== 0) throw error ?? new Error(stderr);
  return stdout.replace(/\n$/, '').split('\n');
}
