// The program under the shim: small commands, what they leave behind, and whether that is right.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
export const program = process.env.WASMFORMER_PROGRAM ?? join(root, 'build/native/wasmformer');
// In memory where possible: a kill is not a power cut, so waiting for fsync on a disk would only take time.
const scratch = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'wasmformer-torture-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
export const path = (name) => join(scratch, name);
export const forever = 1e9;

/** `fault` goes to the shim; the signal `by` ends the program `after` that many milliseconds. */
export function run(args, { fault = '', count = '', after = 120_000, by = 'SIGABRT' } = {}) {
  const env = { ...process.env, LD_PRELOAD: fault || count ? path('shim.so') : '', TORTURE: fault, TORTURE_COUNT: count };
  return spawnSync(program, args, { encoding: 'utf8', env, timeout: after, killSignal: by });
}

function succeed(args, options) {
  const { status, signal, stderr } = run(args, options);
  if (status !== 0) throw new Error(`wasmformer ${args.join(' ')}: ${signal ?? status}\n${stderr}`);
}

// Numbers in words and in digits.
const words = ['null', 'eins', 'zwei', 'drei', 'vier', 'fünf', 'sechs', 'sieben', 'acht', 'neun'];
const pairs = (first, count) => Array.from({ length: count }, (_, i) => {
  const digits = [...String(((first + i) * 379) % 1000).padStart(3, '0')];
  return `${digits.map((digit) => words[digit]).join(' ')}\t${digits.join(' ')}\n`;
}).join('');
// Each word with its digit as the tag.
const tagged = (pairs) => pairs.replace(/^(.*)\t(.*)$/gm, (_, text, digits) =>
  text.split(' ').map((word, i) => `${word}\t${digits.split(' ')[i]}\n`).join(''));

const whole = new Set();
/** What is wrong with a file that must be a whole model or log. */
function damage(file) {
  const bytes = readFileSync(file);
  const hash = createHash('sha1').update(bytes).digest('hex');
  if (whole.has(hash)) return '';
  try {
    if (file.endsWith('.safetensors')) succeed(['inspect', file]);
    else if (file.endsWith('.json')) JSON.parse(bytes);
    else bytes.toString().split('\n').filter(Boolean).forEach((line) => JSON.parse(line));
  } catch ({ message }) {
    return message;
  }
  whole.add(hash);
  return '';
}

/** The files of a folder, without what differs between two equal runs. */
const contents = (folder) => Object.fromEntries(readdirSync(folder).sort().map((name) => {
  const text = readFileSync(join(folder, name), 'latin1');
  return [name, name === 'log.jsonl' ? text.replace(/"(target_tokens_per_second|seconds|time|ranks)":("[^"]*"|[^,}]*)/g, '') : text];
}));
function differences(folder, expected) {
  const found = contents(folder);
  return [...new Set([...Object.keys(found), ...Object.keys(expected)])].filter((name) => found[name] !== expected[name])
    .map((name) => `${name} differs from that of a run that nothing happened to`).join('; ');
}

const pairsGiven = ['--data', path('train.tsv'), '--valid-data', path('valid.tsv'), '--tokenizer', path('tok.model')];
const training = (given, ...more) => ({
  args: (folder, epochs = '4') => ['train', ...given,
    '--preset', 'tiny', '--set', 'd_model=16', 'ffn_dim=32', 'num_heads=2', 'encoder_layers=1',
    'batch_tokens=200', ...more, '--threads', '1', '--max-epochs', epochs, '--keep', '2', '--report-every', '3', '--output', folder,
    ...(existsSync(join(folder, 'last.safetensors')) ? ['--resume'] : [])],
  /** Resumes the run from what is there; it must end with exactly the same files. */
  goOn(folder) {
    const { status, stderr } = run(this.args(folder));
    return status === 0 ? differences(folder, this.expected) : `it cannot be resumed: ${stderr.trim().split('\n').at(-1)}`;
  },
});
const model = join(root, 'tests/fixtures/tiny-de-en.safetensors');
const replacing = (name, args) => ({ args: (folder) => [...args, join(folder, name)], begin: (folder) => writeFileSync(join(folder, name), 'old') });
export const commands = {
  train: training(pairsGiven, 'decoder_layers=1'),
  resume: {
    ...training(pairsGiven, 'decoder_layers=1', 'optimizer=adamw', 'schedule=cosine', 'warmup_steps=2', 'decay_steps=16', 'accumulate=2',
      '--augment', 'join=0.5'),
    begin(folder) { succeed(this.args(folder, '2')); },
  },
  taught: training([...pairsGiven, '--teacher', path('start-resume/best.safetensors'), '--mono', path('train.tsv')], 'decoder_layers=1', 'accumulate=2'),
  tagger: training(['--tags', path('train.conll'), '--valid-tags', path('valid.conll'), '--tokenizer', path('tok.model')], 'accumulate=2'),
  quantize: replacing('small.safetensors', ['quantize', '--model', model, '--output']),
  import: replacing('imported.safetensors', ['import-marian', join(root, 'tests/fixtures/marian/tiny-npz'), '--output']),
  translate: { args: () => ['translate', '--model', model, '--input', path('text')] },
  attention: replacing('maps.json', ['translate', '--model', model, '--input', path('text'), '--attention']),
};

/** Writes what the commands read. */
export function prepareFiles() {
  if (existsSync(path('text'))) return;
  writeFileSync(path('train.tsv'), pairs(0, 40));
  writeFileSync(path('valid.tsv'), pairs(50, 5));
  for (const name of ['train', 'valid']) writeFileSync(path(`${name}.conll`), tagged(readFileSync(path(`${name}.tsv`), 'utf8')));
  succeed(['tokenizer', '--input', path('train.tsv'), '--vocab-size', '40', '--type', 'char', '--output', path('tok.model')]);
  for (const [name, command] of Object.entries(commands)) {
    command.start = path(`start-${name}`);
    mkdirSync(command.start);
    command.begin?.(command.start);
  }
  writeFileSync(path('text'), 'Ich habe einen Hund.\nDanke!\n');
}

/** Also runs each command once without a fault, to learn what it prints and writes and how many calls it makes. */
export function prepare() {
  prepareFiles();
  if (existsSync(path('shim.so'))) return;
  const { status, stderr } = spawnSync('cc', ['-O1', '-shared', '-fPIC', join(import.meta.dirname, 'shim.c'), '-o', path('shim.so'), '-ldl'],
    { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the shim cannot be compiled: ${stderr}`);
  for (const command of Object.values(commands)) {
    const folder = freshFolder(command);
    const { status, stdout, stderr } = run(command.args(folder), { count: path('count') });
    if (status !== 0) throw new Error(stderr);
    const [files, writes, memory] = readFileSync(path('count'), 'utf8').split(' ').map(Number);
    Object.assign(command, { files, writes, memory, stdout, expected: contents(folder), old: contents(command.start) });
  }
}

/** A folder for a case, as it was before the command. */
export function freshFolder({ start }) {
  const folder = path('case');
  rmSync(folder, { recursive: true, force: true });
  cpSync(start, folder, { recursive: true });
  return folder;
}

/** What is wrong after a command that met a fault, or ''. If it failed, its message must match `reason`. */
export function judge(command, folder, { status, signal, stdout, stderr }, reason) {
  if (status === 0) return stdout === command.stdout ? differences(folder, command.expected) : `it succeeds with another output: ${stdout}`;
  const said = stderr.split('\n').filter((line) => line.startsWith('wasmformer: '));
  if (signal || status !== 1) return `it ends with ${signal ?? `exit code ${status}`}: ${stderr.trim().split('\n').at(-1)}`;
  if (said.length !== 1 || !reason.test(said[0])) return `it says ${JSON.stringify(stderr.slice(-300))}`;
  if (!command.stdout.startsWith(stdout)) return `it prints ${stdout}`;
  return leftovers(command, folder);
}

/** What is wrong with the files that are left, or ''; training must be able to continue. */
export function leftovers(command, folder) {
  for (const [name, text] of Object.entries(contents(folder)).filter(([name]) => !name.endsWith('.unfinished'))) {
    const isKnown = [command.expected, command.old].some((files) => files[name] === text);
    const problem = isKnown ? '' : command.goOn ? damage(join(folder, name)) : 'it is cut';
    if (problem) return `${name}: ${problem}`;
  }
  const lost = Object.keys(command.old).filter((name) => !name.startsWith('epoch-') && !existsSync(join(folder, name)));
  return lost.length > 0 ? `${lost} is lost` : command.goOn?.(folder) ?? '';
}

export const errnos = ['ENOSPC', 'EIO', 'EDQUOT', 'EROFS'].map((name) => constants.errno[name]);
