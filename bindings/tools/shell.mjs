// Helpers shared by the scripts of this folder: the repository's root, printed steps, and child processes.
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export function step(text) {
  console.log(`\x1b[1m> ${text}\x1b[0m`.replace(/\x1b\[\d+m/g, (code) => (process.stdout.isTTY ? code : '')));
}

// The path of a program, or undefined.
export function which(program) {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return join(folder, program);
    } catch {
      // Not in this folder.
    }
  }
  return undefined;
}

// Runs a program, its output shown; throws when it fails.
export function run(program, args, options = {}) {
  const { status, signal, error } = spawnSync(program, args, { stdio: 'inherit', cwd: root, ...options });
  if (error) throw new Error(`${program} could not be started: ${error.message}`);
  if (status !== 0) throw new Error(`\`${[program, ...args].join(' ')}\` failed with ${signal ?? `exit code ${status}`}`);
}

// The standard output of a program, or undefined when it failed or is not there.
export function output(program, args) {
  const { status, stdout } = spawnSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return status === 0 ? stdout : undefined;
}

// Runs a script's main function when the script itself was started; an error becomes one sentence.
export async function main(url, body) {
  if (process.argv[1] !== fileURLToPath(url)) return;
  try {
    await body(process.argv.slice(2));
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
