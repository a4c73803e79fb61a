// Damaged texts, corpora, tokenizers and models, and odd values of options: the program reads them, or refuses them in
// one sentence. WASMFORMER_PROGRAM may name the build with sanitizers.
import { readFileSync, writeFileSync } from 'node:fs';
import { commands, freshFolder, path, prepareFiles, run } from './native.mjs';

const values = ['', '0', '-1', '1', '2', '3', '4', '16', '64', '1e9', '1e308', 'nan', 'inf', '0.5', '1e-9', '9223372036854775807', '2147483648',
  'true', 'null', '[]', '{}', '"', '\n', 'ä', '\ud83d\ude00', 'x'.repeat(5000), '%s%n', '../..', 'adamw', 'cosine', 'ssru', 'pre', 'additive', 'gelu'];
const odd = [[], [0], [0xff], [0xed, 0xa0, 0x80], [0xef, 0xbb, 0xbf], [0x0d], [0x0a], [0x0a, 0x0a], [0x09], [0x09, 0x09],
  [0xf0, 0x9f, 0x98, 0x80], [0xe2, 0x96, 0x81], [0xcc, 0x81], [0x22], [0x7b], [0x5c], [0x1f, 0x8b],
  Array(3000).fill(0x61), Array(300).fill(0x20)];

/** Damages one to eight places, most of them near the start: flips a bit, or cuts, repeats or replaces something. */
function damaged(bytes, random) {
  let made = Buffer.from(bytes);
  for (let n = random(2) ? 1 : 1 + random(8); n > 0; n--) {
    const at = random(Math.min(made.length + 1, random(3) ? 2000 : Infinity));
    if (random(2)) {
      if (at < made.length) made[at] ^= 1 << random(random(2) ? 4 : 8);
      continue;
    }
    const length = random(4) ? random(4) : random(made.length - at + 1);
    const put = random(3) ? Buffer.from(odd[random(odd.length)]) : made.subarray(random(made.length + 1)).subarray(0, random(64));
    made = Buffer.concat([made.subarray(0, at), put, made.subarray(at + length)]);
  }
  return made;
}

const value = (random) => values[random(values.length)];
const keysOf = (help) => [...help.matchAll(/^ {2}(\w+) {2,}/gm)].map(([, key]) => key);
const flagsOf = (help) => [...help.matchAll(/^ {2}(--[\w-]+) /gm)].map(([, flag]) => flag)
  .filter((flag) => !['--help', '--output', '--threads', '--attention', '--input', '--model'].includes(flag));
let [keys, translateFlags] = [[], []];

// Each returns the program's arguments; `file(path)` is the path of a damaged copy.
const ways = {
  text: (file) => ['translate', '--model', path('model'), '--input', file(path('text'))],
  model: (file) => ['translate', '--model', file(path('model')), '--input', path('text')],
  corpus: (file, folder) => ['train', '--data', file(path('train.tsv')), '--valid-data', file(path('valid.tsv')), '--tokenizer', path('tok.model'),
    '--preset', 'tiny', '--max-steps', '2', '--threads', '2', '--output', folder],
  tokenizer: (file, folder) => ['train', '--data', path('train.tsv'), '--valid-data', path('valid.tsv'), '--tokenizer', file(path('tok.model')),
    '--preset', 'tiny', '--max-steps', '2', '--threads', '1', '--output', folder],
  vocabulary: (file, folder) => ['tokenizer', '--input', file(path('train.tsv')), '--vocab-size', '60', '--output', `${folder}/tok.model`],
  checkpoint: (file, folder) => {
    writeFileSync(`${folder}/last.safetensors`, readFileSync(file(`${commands.resume.start}/last.safetensors`)));
    return commands.resume.args(folder);
  },
  settings: (_, folder, random) => [...commands.train.args(folder).slice(0, -2), '--set',
    ...Array.from({ length: 1 + random(3) }, () => `${keys[random(keys.length)]}=${value(random)}`), '--output', folder],
  options: (_, folder, random) => [...commands.translate.args(folder),
    ...Array.from({ length: 1 + random(3) }, () => [translateFlags[random(translateFlags.length)], value(random)]).flat()],
};

export default {
  prepare() {
    prepareFiles();
    writeFileSync(path('model'), readFileSync(`${commands.resume.start}/best.safetensors`));
    keys = keysOf(run(['train', '--help']).stdout.split('Keys of --augment')[0]);
    translateFlags = flagsOf(run(['translate', '--help']).stdout);
    if (keys.length < 10 || translateFlags.length < 10) throw new Error(`--help lists only ${[...keys, ...translateFlags]}`);
  },
  cases: () => Infinity,
  attempt(i, random, figures) {
    const names = Object.keys(ways);
    const name = names[i % names.length];
    const folder = freshFolder(commands.train);
    const file = (from) => {
      writeFileSync(path('damaged'), damaged(readFileSync(from), random));
      return path('damaged');
    };
    const args = ways[name](file, folder, random);
    const { status, signal, stderr } = run(args);
    const end = status === 0 ? 'read' : 'refused';
    figures[end] = (figures[end] ?? 0) + 1;
    const said = stderr.split('\n').filter((line) => line.startsWith('wasmformer: '));
    if (!signal && (status === 0 || (status <= 2 && said.length === 1 && !/json\.exception|std::|basic_string/.test(said[0])))) return '';
    return `${name}: it ends with ${signal ?? `exit code ${status}`}: ${stderr.slice(-600)}\n  wasmformer ${args.map((arg) => JSON.stringify(arg)).join(' ')}`;
  },
};
