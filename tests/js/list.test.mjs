// Mozilla's lists of models, and the students in them: a server here stands in for Mozilla's.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { importMarian, listModels } from '../../dist/convert/index.js';
import { Classifier, storedModels, Translator } from '../../dist/index.js';
import { serve } from './support.mjs';

const fixtures = fileURLToPath(new URL('../fixtures/marian/', import.meta.url));
const read = (name) => readFileSync(join(fixtures, name));
const student = { model: read('student/model.int8.bin'), lex: read('student/lex.tiny.s2t.bin'), vocab: read('student/vocab.spm') };
const texts = read('student/input.txt').toString().split('\n').slice(0, 3);
const tokensIn = (name) => JSON.parse(read(`student/${name}`)).target_ids.slice(0, 3);
const [expected, ofAllPieces] = [tokensIn('tokens.int8.lex.json'), tokensIn('tokens.int8.json')];
const integrity = (bytes) => `sha256-${createHash('sha256').update(bytes).digest('base64')}`;
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

const scratch = mkdtempSync(join(tmpdir(), 'wasmformer-list-'));
process.env.XDG_CACHE_HOME = join(scratch, 'cache');
beforeEach(() => storedModels.clear());
after(() => rmSync(scratch, { recursive: true, force: true }));

// Each part as its host packs it.
const packed = { model: gzipSync(student.model), lex: read('lex.tiny.s2t.bin.zst'), vocab: gzipSync(student.vocab) };
const paths = { model: 'model.xxen.intgemm.alphas.bin.gz', lex: 'lex.50.50.xxen.s2t.bin.zst', vocab: 'vocab.xxen.spm.gz' };

// Mozilla's locations are relative to an address of theirs.
const record = (at, fileType, more = {}) => ({
  name: paths[fileType], fileType, sourceLanguage: 'xx', targetLanguage: 'en', architecture: 'tiny', version: '3.0',
  decompressedSize: student[fileType].length, decompressedHash: sha256(student[fileType]), ...more,
  attachment: { hash: sha256(packed[fileType]), size: packed[fileType].length, location: `${at}/files/${paths[fileType]}`, mimetype: 'application/zstd' },
});
const total = Object.values(packed).reduce((sum, { length }) => sum + length, 0);

/** Mozilla's servers; `state` is what they have. */
async function host(t) {
  const state = {
    downloads: [], isUp: true, version: 1, files: Object.fromEntries(Object.keys(packed).map((part) => [`/files/${paths[part]}`, packed[part]])),
  };
  state.at = await serve(t, ({ url, method }, response) => {
    const bytes = state.files[url];
    if (!state.isUp || !bytes) return state.isUp ? response.writeHead(404).end() : response.destroy();
    if (method === 'GET') state.downloads.push(url);
    response.writeHead(200, { 'content-length': bytes.length, etag: `"${state.version}"` }).end(method === 'GET' ? bytes : undefined);
  });
  state.put = (path, json) => {
    state.files[path] = Buffer.from(typeof json === 'string' ? json : JSON.stringify(json));
    return `${state.at}${path}`;
  };
  state.records = (more) => ['model', 'lex', 'vocab'].map((part) => record(state.at, part, more));
  state.settings = state.put('/v1/buckets/main/collections/translations-models-v2/records', { data: state.records() });
  return state;
}

const site = (at, file = (part) => ({ path: `files/${paths[part]}` })) => ({
  baseUrl: at,
  models: {
    'xx-en': ['Nightly', 'Release Desktop'].map((releaseStatus) => ({
      architecture: releaseStatus === 'Nightly' ? 'base' : 'tiny', releaseStatus, sourceLanguage: 'xx', targetLanguage: 'en',
      files: {
        model: { ...file('model'), uncompressedSize: student.model.length, uncompressedHash: sha256(student.model) },
        lexicalShortlist: file('lex'), vocab: file('vocab'),
      },
    })),
    'en-xx': [{ architecture: 'tiny', releaseStatus: 'Release', files: { model: { path: 'a.bin' }, srcVocab: { path: 'b.spm' }, trgVocab: { path: 'c.spm' } } }],
  },
});
const registry = () => ({
  xxen: Object.fromEntries(Object.entries(student).map(([part, bytes]) =>
    [part, { name: `files/plain-${part}`, size: bytes.length, expectedSha256Hash: sha256(bytes), modelType: 'prod' }])),
});

/** The student's own tokens, as Bergamot gives them with its shortlist. */
async function check(model, options) {
  const translator = await Translator.load(model, options);
  try {
    assert.equal(translator.info.languages, 'xx-en');
    for (const [i, text] of texts.entries()) {
      assert.deepEqual((await translator.translate(text, { beamSize: 1, shortlist: 'on' })).targetTokens.map(({ id }) => id), expected[i]);
    }
  } finally {
    translator.dispose();
  }
}

test('each kind of list gives languages, architectures, versions and sizes, and its models translate as in Bergamot', async (t) => {
  const state = await host(t);
  for (const [part, bytes] of Object.entries(student)) state.files[`/files/plain-${part}`] = bytes;
  const lists = {
    [state.settings]: ['xx-en tiny 3.0'],
    [state.put('/models.json', site(state.at))]: ['en-xx tiny Release', 'xx-en tiny Release Desktop', 'xx-en base Nightly'],
    [state.put('/registry.json', registry())]: ['xx-en  prod'],
  };
  for (const [list, models] of Object.entries(lists)) {
    const found = await listModels(list);
    assert.deepEqual(found.map(({ from, to, architecture, version }) => `${from}-${to} ${architecture} ${version}`), models);
    await check({ list, from: 'xx', to: 'en' });
  }
  const [{ bytes, files }] = await listModels(state.settings);
  assert.equal(bytes, total);
  assert.deepEqual(files['lex.bin.zst'], { url: `${state.at}/files/${paths.lex}`, length: packed.lex.length, integrity: integrity(student.lex) });
  assert.equal((await listModels(`${state.at}/models.json`))[1].bytes, student.model.length);
  await check(await importMarian({ list: new URL(state.settings), from: 'xx', to: 'en' }));
  assert.deepEqual(await listModels(new Blob([state.files['/models.json']])), await listModels(`${state.at}/models.json`));
});

test('the newest released version comes first, and an architecture can be requested', async (t) => {
  const state = await host(t);
  const versions = [['tiny', '1.0'], ['tiny', '2.10'], ['base', '2.9'], ['tiny', '3.0a1'], ['base-memory', '3.0']];
  const list = state.put('/list.json', { data: versions.flatMap(([architecture, version]) => state.records({ architecture, version })) });
  assert.deepEqual((await listModels(list)).map(({ version }) => version), ['3.0', '3.0a1', '2.10', '2.9', '1.0']);
  await assert.rejects(Translator.load({ list, from: 'xx', to: 'en', architecture: 'big' }), {
    message: `[models] ${list} has no model xx-en big; the nearest is xx-en tiny`,
  });
});

test('a model from a list by Mozilla translates without its shortlist unless it is asked to; any other uses its own', async (t) => {
  const state = await host(t);
  const idsOf = async (translator, options) =>
    (await translator.translate(texts, { beamSize: 1, ...options })).map(({ targetTokens }) => targetTokens.map(({ id }) => id));
  const mozillas = await Translator.load({ list: state.settings, from: 'xx', to: 'en' });
  const [model, lex, vocab] = [student.model, student.lex, student.vocab].map((bytes) => new Blob([bytes]));
  const other = await Translator.load(await importMarian({ 'model.bin': model, 'lex.bin': lex, 'vocab.spm': vocab }));
  t.after(() => [mozillas, other].forEach((translator) => translator.dispose()));
  assert.notDeepEqual(expected, ofAllPieces);
  assert.deepEqual(await idsOf(mozillas), ofAllPieces);
  assert.deepEqual(await idsOf(other), expected);
  for (const translator of [mozillas, other]) {
    assert.deepEqual(await idsOf(translator, { shortlist: 'on' }), expected);
    assert.deepEqual(await idsOf(translator, { shortlist: 'off' }), ofAllPieces);
    assert.deepEqual(await idsOf(translator, { fullVocabulary: true }), ofAllPieces, 'the earlier name of off');
  }
  assert.deepEqual(await idsOf(other, { shortlist: 'auto', fullVocabulary: false }), expected);
  await assert.rejects(other.translate(texts[0], { shortlist: 'on', fullVocabulary: true }), /shortlist is on, but fullVocabulary is the same as off/);
  await assert.rejects(other.translate(texts[0], { shortlist: 'maybe' }), /shortlist must be auto, on or off/);
});

test('records of a major version that is not known are left out; if a pair has no others, it is refused', async (t) => {
  const state = await host(t);
  const list = state.put('/list.json', { data: ['4.0', '3.1'].flatMap((version) => state.records({ version })) });
  assert.deepEqual((await listModels(list)).map(({ version }) => version), ['3.1']);
  await check({ list, from: 'xx', to: 'en' });
  const newer = state.put('/newer.json', { data: [...state.records({ version: '4.0' }), ...state.records({ sourceLanguage: 'yy' })] });
  const refusal = { code: 'list-version', details: { name: newer, pair: 'xx-en', version: '4.0', major: 4 },
    message: `[models] the model xx-en in ${newer} has version 4.0; this package reads versions 1 to 3, so a newer package may be needed` };
  await assert.rejects(Translator.load({ list: newer, from: 'xx', to: 'en' }), refusal);
  await assert.rejects(listModels(state.put('/only.json', { data: state.records({ version: '12.1' }) })), { code: 'list-version' });
});

test('progress counts all files together; the converted model is kept until the list changes', async (t) => {
  const state = await host(t);
  const model = { list: state.settings, from: 'xx', to: 'en' };
  assert.deepEqual(await Translator.estimate(model), { download: total, isStored: false });
  const seen = [];
  await check(model, { onProgress: (...numbers) => seen.push(numbers) });
  assert.ok(seen.every(([loaded, all], i) => all === total && loaded >= (seen[i - 1]?.[0] ?? 0)));
  assert.equal(seen.at(-1)[0], total);
  const before = state.downloads.length;
  assert.deepEqual(await Translator.estimate(model), { download: 0, isStored: true });
  state.isUp = false;
  await check(model);
  state.isUp = true;
  assert.equal(state.downloads.length, before);
  state.version = 2;
  await check(model);
  assert.ok(state.downloads.length > before, 'a new list, a new model');
  // A list that does not say what is to be downloaded: the server does.
  const list = state.put('/models.json', site(state.at));
  assert.deepEqual(await Translator.estimate({ list, from: 'xx', to: 'en' }), { download: total, isStored: false });
});

test('files that do not match the list are refused, each in one sentence', async (t) => {
  const state = await host(t);
  const model = { list: state.settings, from: 'xx', to: 'en' };
  const at = (part) => `/files/${paths[part]}`;
  const refused = async (part, bytes, message) => {
    state.files[at(part)] = bytes;
    await assert.rejects(Translator.load(model), (error) => message.test(error.message) && !/\n/.test(error.message) && error.message.includes(paths[part]));
    state.files[at(part)] = packed[part];
  };
  const other = Buffer.from(student.model);
  other[other.length >> 1] ^= 1;
  await refused('model', gzipSync(other), /^\[load\] the digest of model\.xxen\S+ is sha256-\S+=, not sha256-\S+=$/);
  await refused('model', packed.model.subarray(0, 5000), /could not be unpacked: its gzip data is damaged or cut short$/);
  await refused('lex', packed.lex.subarray(0, 2000), /could not be unpacked: its Zstandard data is damaged or cut short$/);
  await refused('vocab', undefined, /answered 404/);
  assert.deepEqual(await storedModels.list(), []);
  await check(model, { integrity: integrity(student.model) });
  await assert.rejects(Translator.load(model, { integrity: integrity(student.lex) }), /the digest of/);
});

test('invalid lists, and models missing from a list, are reported', async (t) => {
  const state = await host(t);
  const list = state.put('/models.json', site(state.at));
  await assert.rejects(listModels(state.put('/page', '<html>')), /^Error: \[load\] http\S+\/page is not JSON: [^\n]+$/);
  await assert.rejects(listModels(state.put('/other', { a: [1], xxen: { model: 3 }, models: { 'a-b': [null] }, data: [{}] })), /other has no models; Mozilla's/);
  await assert.rejects(listModels(state.put('/null', 'null')), /null has no models/);
  await assert.rejects(listModels(`${state.at}/absent.json`), /absent\.json answered 404/);
  await assert.rejects(Translator.load({ list, from: 'xy', to: 'en' }), /has no model xy-en; the nearest is xx-en$/);
  await assert.rejects(Translator.load({ list, from: 'xx' }), /'from' and 'to'/);
  await assert.rejects(Translator.load({ list, form: 'xx', to: 'en' }), /unknown option 'form'; did you mean 'from'\?/);
  await assert.rejects(Translator.load({ list: 3, from: 'xx', to: 'en' }), /must be a URL, a path, a Blob, .* not 3/);
  await assert.rejects(Classifier.load({ list, from: 'xx', to: 'en' }), /does not classify; it translates$/);
});

test('metadata.json beside a student gives its languages and checks its weights, in folders and at addresses', async (t) => {
  const state = await host(t);
  const metadata = { architecture: 'tiny', hash: sha256(student.model), sourceLanguage: 'xx', targetLanguage: 'en' };
  const folder = (json) => ({
    'model.bin.gz': new Blob([packed.model]), 'lex.bin.zst': new Blob([packed.lex]), 'vocab.spm': new Blob([student.vocab]),
    'metadata.json': new Blob([JSON.stringify(json)]),
  });
  await check(await importMarian(folder(metadata)));
  await assert.rejects(importMarian(folder({ ...metadata, hash: sha256('') })), /the digest of .* is sha256-/);
  await assert.rejects(importMarian(folder({ ...metadata, architecture: 'huge' })), {
    message: "[import] the architecture in metadata.json is 'huge'; 'tiny', 'base' and 'base-memory' can be read",
  });
  const address = state.put('/files/metadata.json', metadata).replace('metadata.json', '');
  await check(await importMarian(address));
  await assert.rejects(importMarian(state.put('/none/metadata.json', metadata).replace('metadata.json', '')), /\.bin/);
});

test('npx wasmformer models prints a list, from a file or an address, as a table or JSON', async (t) => {
  const state = await host(t);
  const run = (...args) => promisify(execFile)(process.execPath, [fileURLToPath(new URL('../../dist/cli.js', import.meta.url)), 'models', ...args]);
  const path = join(scratch, 'registry.json');
  writeFileSync(path, JSON.stringify(registry()));
  const { stdout } = await run(state.put('/models.json', site(state.at)));
  assert.equal(stdout, `from  to  architecture  version          size
en    xx  tiny          Release
xx    en  tiny          Release Desktop  0.2 MB
xx    en  base          Nightly          0.2 MB
`);
  assert.deepEqual(JSON.parse((await run(path, '--json')).stdout), await listModels(path));
  await assert.rejects(run(`${state.at}/absent`), { code: 1, stderr: `wasmformer: [load] ${state.at}/absent answered 404 Not Found\n` });
  await assert.rejects(run(), { code: 1, stderr: /^wasmformer: \[models\] give one list[^\n]*\n$/ });
  await assert.rejects(run(path, '--jsn'), { code: 1, stderr: /^wasmformer: [^\n]*--jsn[^\n]*\n$/ });
});
