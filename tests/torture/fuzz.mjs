// The fuzzed readers of tests/fuzz, with AddressSanitizer and UndefinedBehaviorSanitizer, for as long as there is time.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { environment, longestInput } from '../fuzz/folders.mjs';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'build/fuzz');
const program = join(folder, 'readers');
const corpora = () => (existsSync(program) ? readdirSync(folder).filter((name) => /^corpus-\d+$/.test(name)) : []);
let [seconds, seed] = [0, 0];

export default {
  /** `npm test -- fuzz` builds them too. */
  prepare(options) {
    ({ seconds, seed } = options);
    if (!existsSync(program) && options.isLong)
      spawnSync(process.execPath, ['--test', join(root, 'tests/fuzz/fuzz.test.mjs')], { stdio: 'inherit' });
    if (corpora().length === 0) console.log('fuzz: the readers are not built; `npm test -- fuzz` builds them');
  },
  cases: () => corpora().length,
  isWhole: true,
  attempt(i, _, figures) {
    const corpus = join(folder, 'torture');
    rmSync(corpus, { recursive: true, force: true });
    cpSync(join(folder, `corpus-${i}`), corpus, { recursive: true });
    const { status, signal, stderr } = spawnSync(program, [`-max_total_time=${Math.ceil(seconds / corpora().length)}`, `-seed=${seed + 1}`,
      `-max_len=${longestInput(i)}`, '-rss_limit_mb=1024', '-timeout=60', '-print_final_stats=1', `-artifact_prefix=${folder}/`, corpus],
    { encoding: 'utf8', env: environment(i), maxBuffer: 1 << 28 });
    figures.inputs = (figures.inputs ?? 0) + Number(stderr.match(/number_of_executed_units: (\d+)/)?.[1] ?? 0);
    return status === 0 ? '' : `reader ${i} ended with ${signal ?? status}: ${stderr.slice(-2000)}`;
  },
};
