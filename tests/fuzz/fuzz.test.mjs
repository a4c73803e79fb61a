// Readers of files from elsewhere, by libFuzzer: a fixed number of inputs, made of real files by a fixed seed, with
// AddressSanitizer and UndefinedBehaviorSanitizer watching.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism, homedir } from 'node:os';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { compilerCache, fuzzer } from '../../bindings/tools/setup.mjs';
import { environment, folders, isShort, longestInput } from './folders.mjs';

const root = join(import.meta.dirname, '../..');
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'wasmformer');
const folder = join(root, 'build/fuzz');
const program = join(folder, 'readers');
const clang = existsSync(fuzzer.runtime) ? fuzzer.clang : 'clang++';
const { CMAKE_CXX_COMPILER_LAUNCHER: launcher, ...cacheSettings } = compilerCache();
const compiler = launcher ? [launcher, clang] : [clang];
// Inputs per reader; some readers load a whole model each time, which takes up to a thousand times as long.
const runsOf = (reader) => (isShort(reader) ? 20_000 : reader < 14 ? 1_000 : 200);
// All that reads: whole folders without what only writes, and single files of the others.
const readingFolders = ['src/schema', 'src/bundle', 'src/exchange'].flatMap((name) =>
  readdirSync(join(root, name), { recursive: true }).filter((file) => file.endsWith('.cpp') && !/onnx|export/.test(file))
    .map((file) => join(name, file)));
const sources = [
  'tests/fuzz/readers.cpp',
  'src/text/unicode/utf8.cpp',
  'src/text/shortlist.cpp',
  'src/tasks/translate/word_alignment.cpp',
  'src/tasks/translate/corpus.cpp',
  'src/tasks/annotate/labels.cpp',
  'src/tasks/translate/translate_options.cpp',
  'src/train/run_request.cpp',
  'src/model/config.cpp',
  ...readingFolders,
];

const { MARIAN_FOLDER: marian, BERT_FOLDER: bert } = folders;
const fixture = (name) => readFileSync(join(root, 'tests/fixtures', name));
// In the order of `readers` in readers.cpp.
const kinds = {
  safetensors: [fixture('marian/small/two.safetensors')],
  'state dicts': [fixture('marian/small/zip.bin'), fixture('marian/small/legacy.bin')],
  npz: [fixture('marian/small/two.npz')],
  zip: [fixture('marian/small/zip.bin'), fixture('marian/small/two.npz')],
  yaml: [fixture('marian/tiny-npz/tiny.vocab.yml'), Buffer.from('a: "\\x41\\u2581"\nb:\n  - 1\nc: [1, \'2\']\nd:\n  []\n')],
  settings: [Buffer.from('{"d_model":16,"norm":"pre","dropout":0.1,"output_bias":true}')],
  'whole models': [
    execFileSync(join(root, 'build/native/wasmformer'), ['import-marian', marian, '--precision', 'int8', '--output', '-']),
    execFileSync(join(root, 'build/native/wasmformer'), ['quantize', '--bits', '4', join(root, 'tests/fixtures/tiny-de-en.safetensors'), '--output', '-']),
  ],
  "MarianMT's config": [fixture('marian/tiny/config.json')],
  vocabularies: [fixture('marian/tiny/vocab.json')],
  "MarianMT's tokenizer_config": [fixture('marian/tiny/tokenizer_config.json')],
  ...Object.fromEntries(['config.json', 'vocab.txt', 'tokenizer_config.json', 'model.safetensors'].map((name) =>
    [`BERT's ${name}`, [readFileSync(join(bert, name))]])),
  'Marian .bin': [fixture('marian/student/model.int8.bin')],
  "a student's model": [fixture('marian/student/model.int8.bin')],
  "a student's shortlist": [fixture('marian/student/lex.tiny.s2t.bin')],
  "a student's vocabulary": [fixture('marian/student/vocab.spm')],
  lexicons: [Buffer.from('der the 0.8\n▁ich ▁I 0.5\nNULL a 0.1\n</s> </s> 1e-3\n')],
  'options as JSON': [Buffer.from('{"beamSize":4,"sampling":{"topK":5,"seed":1},"attention":true}'),
    Buffer.from('{"task":{"name":"copy","pairs":50},"tokenizer":{"type":"bpe","vocabSize":300},"augment":{"join":0.5}}')],
  texts: [Buffer.from('Ich habe 3,5 kg Äpfel.\n你好 🙂 e\u0301\ufeff')],
  'parallel texts': [Buffer.from('Hallo\tHello\r\n\nja\tyes\tmore\n')],
  'tagged texts': [Buffer.from('Anna\tB-PER\nlives\tO\n\nRome\tB-LOC\n')],
};

function run(command, args, env = process.env) {
  return new Promise((resolve, reject) => {
    execFile(command, args, { cwd: root, env, maxBuffer: 1 << 28 }, (error, stdout, stderr) =>
      error ? reject(new Error(`${command}: ${error.code ?? error.signal}\n${stderr.slice(-4000)}`)) : resolve(stderr));
  });
}

test('the readers are built for libFuzzer', async () => {
  mkdirSync(folder, { recursive: true });
  const time = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const headers = readdirSync(join(root, 'src'), { recursive: true }).filter((file) => file.endsWith('.h'))
    .map((file) => join(root, 'src', file));
  const changed = Math.max(...headers.map(time));
  const object = (source) => join(folder, `${basename(source)}.o`);
  const old = sources.filter((source) => time(object(source)) < Math.max(changed, time(join(root, source))));
  const flags = ['-std=c++20', '-O1', '-DEigen=wasmformer_eigen', '-DEIGEN_MAX_ALIGN_BYTES=64', '-fsanitize=fuzzer,address,undefined', '-fno-sanitize-recover=undefined'];
  const compile = async () => {
    for (let source = old.shift(); source; source = old.shift()) {
      const [first, ...others] = compiler;
      await run(first, [...others, ...flags, '-Isrc', '-Isrc/include', '-isystem', join(cache, 'eigen-5.0.1'),
        '-isystem', join(cache, 'nlohmann_json-3.11.2/include'), '-isystem', join(root, 'build/native/libyaml'), '-c', source, '-o', object(source)],
      { ...process.env, ...cacheSettings });
    }
  };
  if (old.length > 0 || !existsSync(program)) {
    await Promise.all(Array.from({ length: availableParallelism() }, compile));
    // Each object of the library covers a whole folder, so some functions are defined twice. The linker keeps the first,
    // built with sanitizers.
    await run(clang, [...flags, ...sources.map(object), join(root, 'build/native/libwasmformer.a'), '-Wl,-z,muldefs', '-pthread', '-lz', '-o', program]);
  }
});

for (const [i, [name, files]] of Object.entries(kinds).entries()) {
  const runs = runsOf(i);
  test(`${runs} inputs resembling ${name} are read or refused`, async () => {
    const corpus = join(folder, `corpus-${i}`);
    rmSync(corpus, { recursive: true, force: true });
    mkdirSync(corpus, { recursive: true });
    files.forEach((file, n) => writeFileSync(join(corpus, String(n)), file));
    const told = await run(program, [`-runs=${runs}`, '-seed=1', `-max_len=${longestInput(i)}`, '-rss_limit_mb=1024', '-timeout=20',
      '-print_final_stats=1', `-artifact_prefix=${folder}/`, corpus], environment(i));
    assert.ok(Number(told.match(/number_of_executed_units: (\d+)/)[1]) >= runs);
  });
}
