// Import and export of Marian students, with the tiny one in tests/fixtures/marian/student.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

const program = join(import.meta.dirname, '../../build/native/wasmformer');
const fixture = join(import.meta.dirname, '../fixtures/marian/student');
const folder = mkdtempSync(join(tmpdir(), 'wasmformer-'));
const path = (name) => join(folder, name);
const texts = readFileSync(join(fixture, 'input.txt'), 'utf8');

const run = (...args) => spawnSync(program, args, { encoding: 'utf8', input: texts });
function succeed(...args) {
  const { status, stdout, stderr } = run(...args);
  assert.equal(status, 0, `${args.join(' ')}: ${stderr}`);
  return stdout;
}
function refused(pattern, ...args) {
  const { status, stderr } = run(...args);
  assert.notEqual(status, 0, args.join(' '));
  assert.match(stderr, pattern);
  assert.equal(stderr.trim().split('\n').length, 1, stderr);
}
const translate = (model) => succeed('translate', '--model', model, '--beam-size', '1', '--max-length', '12');

before(() => {
  cpSync(fixture, path('student'), { recursive: true });
  rmSync(path('student/model.int8.bin'));
  succeed('import-marian', path('student'), '--output', path('with.safetensors'));
  rmSync(path('student/lex.tiny.s2t.bin'));
  succeed('import-marian', path('student'), '--output', path('student.safetensors'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

test('a shortlist is used unless the folder is one of Mozilla, and --shortlist decides', () => {
  const by = (model, ...options) => succeed('translate', '--model', path(model), '--beam-size', '1', '--max-length', '12', ...options);
  cpSync(path('student'), path('mozillas'), { recursive: true });
  cpSync(join(fixture, 'lex.tiny.s2t.bin'), path('mozillas/lex.tiny.s2t.bin'));
  writeFileSync(path('mozillas/metadata.json'), '{ "sourceLanguage": "xx", "targetLanguage": "en" }');
  succeed('import-marian', path('mozillas'), '--output', path('mozillas.safetensors'));
  const [listed, all] = [by('with.safetensors'), by('student.safetensors')];
  assert.notEqual(listed, all);
  assert.deepEqual([by('mozillas.safetensors'), by('mozillas.safetensors', '--shortlist', 'on')], [all, listed]);
  for (const option of [['--shortlist', 'off'], ['--full-vocabulary']]) assert.equal(by('with.safetensors', ...option), all);
  assert.equal(by('with.safetensors', '--shortlist', 'auto'), listed);
  refused(/shortlist is on, but this model has none/, 'translate', '--model', path('student.safetensors'), '--shortlist', 'on');
  refused(/shortlist is on, but full_vocabulary is the same as off/, 'translate', '--model', path('with.safetensors'), '--shortlist', 'on', '--full-vocabulary');
});

test('a student written as .bin or .npz is read back with the same translations', () => {
  for (const format of ['bin', 'npz']) {
    succeed('export-marian', path('student.safetensors'), '--output', path(format), '--format', format);
    succeed('import-marian', path(format), '--output', path(`${format}.safetensors`));
    assert.equal(translate(path(`${format}.safetensors`)), translate(path('student.safetensors')), format);
  }
  succeed('export-marian', path('with.safetensors'), '--output', path('listed'), '--format', 'npz');
  assert.match(readFileSync(path('listed/decoder.yml'), 'utf8'), /^shortlist:\n {2}- lex\.s2t\.bin\n {2}- false\n$/m);
  succeed('import-marian', path('listed'), '--output', path('again.safetensors'));
  assert.equal(translate(path('again.safetensors')), translate(path('with.safetensors')), 'the shortlist comes back too');
  assert.notEqual(translate(path('with.safetensors')), translate(path('student.safetensors')), 'the shortlist changes the translations');
  assert.deepEqual(readdirSync(path('npz')).sort(), ['decoder.yml', 'model.npz', 'vocab.spm']);
  refused(/--precision int8 .*--format npz/, 'export-marian', path('student.safetensors'), '--output', path('x'),
    '--format', 'npz', '--precision', 'int8');
});

test('Python reads the .npz: checksums, types, shapes and the options', () => {
  succeed('export-marian', path('student.safetensors'), '--output', path('read'), '--format', 'npz');
  const script = `
import ast, json, struct, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
assert archive.testzip() is None
arrays = {}
for name in archive.namelist():
    data = archive.read(name)
    assert data[:8] == b'\\x93NUMPY\\x01\\x00' and name.endswith('.npy')
    length, = struct.unpack('<H', data[8:10])
    header = ast.literal_eval(data[10:10 + length].decode())
    assert (10 + length) % 64 == 0 and data[9 + length:10 + length] == b'\\n' and not header['fortran_order']
    arrays[name[:-4]] = [header['descr'], list(header['shape']), len(data) - 10 - length]
print(json.dumps([arrays, archive.read('special:model.yml.npy')[128:].decode()]))`;
  const { stdout, stderr } = spawnSync('python3', ['-c', script, path('read/model.npz')], { encoding: 'utf8' });
  assert.equal(stderr, '');
  const [arrays, options] = JSON.parse(stdout);
  const { d_model: features, target_vocab_size: pieces } = JSON.parse(succeed('inspect', path('student.safetensors'), '--json')).config;
  assert.deepEqual(arrays.Wemb, ['<f4', [pieces - 1, features], 4 * (pieces - 1) * features]); // without the begin token
  assert.equal(arrays['special:model.yml'][0], '|i1');
  assert.match(options, /dec-cell: ssru\n[^]*\0$/);
});

test('a shortlist is built from sentence pairs or read from a lexicon', () => {
  const model = path('student.safetensors'), listed = path('listed.safetensors');
  const sources = texts.trim().split('\n'), targets = translate(model).trimEnd().split('\n');
  writeFileSync(path('pairs.tsv'), sources.map((source, i) => `${source}\t${targets[i]}\n`).join(''));
  const said = succeed('shortlist', '--model', model, '--data', path('pairs.tsv'), '--output', listed, '--first', '10', '--best', '100');
  const [candidates] = /^\d+/.exec(said);
  assert.ok(Number(candidates) > 0, said);
  assert.equal(translate(listed), translate(model), 'every piece of the translations is among the candidates');

  succeed('shortlist', '--model', model, '--data', path('pairs.tsv'), '--output', listed, '--first', '10', '--best', '1', '--iterations', '1');
  assert.notEqual(translate(listed), translate(model), 'one candidate per piece is not enough');

  succeed('shortlist', '--model', model, '--lexicon', join(fixture, 'lex.tiny.s2t.bin'), '--output', listed);
  assert.equal(translate(listed), translate(path('with.safetensors')), "the same as the model imported with Marian's own lexicon");
  refused(/vocab\.spm/, 'shortlist', '--model', model, '--lexicon', join(fixture, 'vocab.spm'), '--output', path('none'));
});
