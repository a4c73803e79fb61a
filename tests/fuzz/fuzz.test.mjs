// Readers of files from elsewhere, by libFuzzer: a fixed number of inputs, made of real files by a fixed seed, with
// AddressSanitizer and UndefinedBehaviorSanitizer watching.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../..');
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'wasmformer');
const folder = join(root, 'build/fuzz');
const program = join(folder, 'readers');
const runs = 20_000; // of each reader
const sources = ['tests/fuzz/readers.cpp', 'src/text/utf8.cpp', 'src/model/config.cpp',
  ...['safetensors', 'pickle', 'state_dict', 'zip', 'npz', 'yaml'].map((name) => `src/io/${name}.cpp`)];

const fixture = (name) => readFileSync(join(root, 'tests/fixtures', name));
// In the order of `readers` in readers.cpp.
const readers = {
  safetensors: [fixture('marian/small/two.safetensors')],
  'state dicts': [fixture('marian/small/zip.bin'), fixture('marian/small/legacy.bin')],
  npz: [fixture('marian/small/two.npz')],
  zip: [fixture('marian/small/zip.bin'), fixture('marian/small/two.npz')],
  yaml: [fixture('marian/tiny-npz/tiny.vocab.yml'), Buffer.from('a: "\\x41\\u2581"\nb:\n  - 1\nc: [1, \'2\']\nd:\n  []\n')],
  config: [Buffer.from('{"d_model":16,"norm":"pre","dropout":0.1,"output_bias":true}')],
};

function run(command, args) {
  const { status, stderr, error } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  assert.equal(status, 0, error?.message ?? stderr.slice(-4000));
  return stderr;
}

test('the readers are built for libFuzzer', () => {
  mkdirSync(folder, { recursive: true });
  const time = (file) => { try { return statSync(file).mtimeMs; } catch { return 0; } };
  if (sources.every((source) => time(join(root, source)) < time(program))) return;
  run('clang++', ['-std=c++20', '-O1', '-fsanitize=fuzzer,address,undefined', '-fno-sanitize-recover=undefined',
    '-Isrc', '-isystem', join(cache, 'eigen-5.0.1'), '-isystem', join(cache, 'nlohmann_json-3.11.2/include'),
    ...sources, '-o', program]);
});

for (const [i, [name, files]] of Object.entries(readers).entries()) {
  test(`${runs} inputs like files of ${name} are read or refused`, () => {
    const corpus = join(folder, `corpus-${i}`);
    rmSync(corpus, { recursive: true, force: true });
    mkdirSync(corpus, { recursive: true });
    files.forEach((file, n) => writeFileSync(join(corpus, String(n)), Buffer.concat([Buffer.from([i]), file])));
    const told = run(program, [`-runs=${runs}`, '-seed=1', '-max_len=4096', '-rss_limit_mb=1024', '-timeout=20',
      '-print_final_stats=1', `-artifact_prefix=${folder}/`, corpus]);
    assert.ok(Number(told.match(/number_of_executed_units: (\d+)/)[1]) >= runs);
  });
}
