// `npm run bench -- --environments`: the seconds from the start of a program, or the opening of a page, until it has a
// translation, in each place that tests/environments tries. Installing and bundling do not count.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../../bindings/tools/shell.mjs';
import { chromium } from '../../bindings/tools/setup.mjs';

const tests = 'tests/environments';

/** The lines that the tests have written: an environment, a tab, its seconds. */
function secondsIn(file) {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8').trim().split('\n').map((line) => line.split('\t'));
}

export function measureEnvironments(figures, { wanted, log }) {
  const folder = mkdtempSync(join(tmpdir(), 'wasmformer-seconds-'));
  const file = join(folder, 'seconds.tsv');
  const env = { ...process.env, CHROMIUM: chromium(), WASMFORMER_SECONDS: file };
  try {
    for (const name of readdirSync(join(root, tests)).filter((entry) => entry.endsWith('.test.mjs') && wanted(entry))) {
      log(name);
      const { status } = spawnSync(process.execPath, ['--test', join(tests, name)], { cwd: root, env, stdio: ['ignore', 2, 2] });
      if (status !== 0) throw new Error(`${name} failed`);
    }
    for (const [environment, seconds] of secondsIn(file)) figures.set(`seconds, ${environment}`, [Number(seconds)]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
