// The extras module, for one-off work: converting models and training tokenizers. Fetched when needed, then dropped.
import type { NativeExtras, TokenizerOptions } from '../generated/extras.js';
import { wellFormed } from '../shared/checks.js';
import { fetchFailed, WasmformerError } from '../shared/errors.js';
import { isNode, nodeModule } from '../shared/platform.js';
import type { Bytes, Conversion, ListData, ModelData } from '../shared/protocol.js';
import { checkIntegrity, integrityOf, lengthOf, located, nameOf, readBytes, type Progress, type WebAddress } from './download.js';
import { listedModel } from './mozilla-models.js';
import { errorOf, startModule, type ExceptionHelper } from './instance.js';
import { readJson, unpacked } from './decompress.js';

/** The result of `use`, which blocks while it works. Throws the module's errors. */
async function withExtras<T>(use: (module: NativeExtras) => T): Promise<T> {
  const { module } = await startModule<NativeExtras & ExceptionHelper>('extras');
  try {
    return use(module);
  } catch (thrown) {
    throw errorOf(module, thrown);
  }
}

/**
 * The bytes of a SentencePiece .model file, the same as the native program makes of these sentences. Throws if the text
 * is too short for `vocabSize` pieces, unless `hardVocabLimit` is false.
 */
export function trainTokenizer(
  sentences: readonly string[],
  options: Omit<TokenizerOptions, 'hardVocabLimit'> & Partial<TokenizerOptions>,
): Promise<Uint8Array> {
  return withExtras((module) => module.trainTokenizer(sentences.map(wellFormed), { hardVocabLimit: true, ...options }));
}

/** `length`: bytes to load, if known; `integrity`: digest of the unpacked content. */
export type Folder = Record<string, ModelData & { length?: number; integrity?: string }>;
/** The host's answers to HEAD requests, one for each file that a folder may have. */
type Heads = ReadonlyMap<string, Response>;

export async function convert(wanted: Conversion, onProgress: Progress): Promise<Record<string, Blob>> {
  const { to, from, precision, languages } = wanted;
  if (to !== 'model') {
    const model = await readBytes((from as Folder).model!, onProgress);
    return withExtras((module) => {
      const { names, files } = to === 'onnx' ? module.writeOnnx(model) : module.writeMarian(model, precision);
      return Object.fromEntries(names.map((name, i) => [name, blob(files[i]!)]));
    });
  }
  const given = 'kind' in from ? await folderAt(from as ModelData) : (from as Folder);
  return { 'model.safetensors': blob(await convertFolder(given, precision, languages, onProgress)) };
}

export async function convertFolder(
  folder: Folder, precision: string, languages: string, onProgress: Progress,
): Promise<Bytes> {
  const said = await readMetadata(folder);
  const { names, files } = await readFolder(folder, onProgress);
  // The module only asks whether the file is there.
  if (isMozillas(folder)) {
    names.push('metadata.json');
    files.push(new Uint8Array());
  }
  return withExtras((module) => module.readFolder(names, files, languages || said, precision) as Bytes);
}

const blob = (bytes: Uint8Array) => new Blob([bytes as Bytes], { type: 'application/octet-stream' });

/** The files of a folder that are needed to read a model, unpacked. */
async function readFolder(folder: Folder, onProgress: Progress): Promise<{ names: string[]; files: Bytes[] }> {
  // Files may have the same unpacked name: the last one wins, which is the one that is not packed.
  const given = new Map(Object.keys(folder).sort().reverse().map((name) => [name.replace(/\.(gz|zst)$/, ''), name]));
  const needed = await withExtras((module) => module.folderFiles([...given.keys()]));
  const names = needed.filter((name) => name !== 'metadata.json'); // readMetadata() has read it
  const all = names.map((name) => ({ loaded: 0, total: folder[given.get(name)!]!.length ?? NaN })); // until it is known
  const sum = (key: 'loaded' | 'total') => all.reduce((so, file) => so + file[key], 0);
  const read = async (name: string, i: number) => {
    const file = folder[given.get(name)!]!;
    const bytes = await readBytes(file, (loaded, total = NaN) => {
      all[i] = { loaded, total };
      onProgress(sum('loaded'), sum('total') || undefined);
    });
    const content = given.get(name) === name ? bytes : await unpacked(nameOf(file), bytes);
    if (file.integrity) await checkIntegrity(nameOf(file).replace(/.*\//, ''), content, file.integrity);
    return content;
  };
  const weights = names.includes('config.json') ? weightsOf(names) : undefined;
  const small = names.filter((name) => name !== weights);
  const files = await Promise.all(small.map(async (name) => read(name, names.indexOf(name))));
  if (weights === undefined) return { names, files };
  await checkSettings(small, files);
  return { names: [...small, weights], files: [...files, await read(weights, names.indexOf(weights))] };
}

/** Refuses a model that cannot be read, or a folder that lacks a file, before the weights are downloaded. */
async function checkSettings(names: string[], files: Bytes[]): Promise<void> {
  try {
    await withExtras((module) => module.readFolder(names, files, '', 'f32'));
  } catch (error) {
    if (!(error instanceof WasmformerError && error.code === 'no-weights')) throw error;
  }
}

/** A folder of a student as Mozilla publishes them. */
const isMozillas = (folder: Folder) => 'metadata.json' in folder && !('config.json' in folder);

/** Reads Mozilla's metadata.json: returns the student's languages, and sets the digest that its weights must have. */
async function readMetadata(folder: Folder): Promise<string> {
  if (!isMozillas(folder)) return '';
  const file = folder['metadata.json']!;
  const { architecture = 'tiny', hash, sourceLanguage, targetLanguage } = await readJson(file);
  if (!['tiny', 'base', 'base-memory'].includes(architecture as string)) {
    throw new WasmformerError('import', `the architecture in metadata.json is '${architecture}'; 'tiny', 'base' and 'base-memory' can be read`);
  }
  const weights = weightsOf(Object.keys(folder));
  if (weights && typeof hash === 'string') folder[weights] = { ...folder[weights]!, integrity: integrityOf(hash) };
  return sourceLanguage && targetLanguage ? `${sourceLanguage}-${targetLanguage}` : '';
}

async function localFolder(path: string): Promise<Folder> {
  const { readdir } = await nodeModule<typeof import('node:fs/promises')>('fs/promises');
  const isUrl = path.startsWith('file:');
  const names = await readdir(isUrl ? new URL(path) : path).catch((cause: unknown) => {
    throw new WasmformerError('import', `the folder ${path} could not be read: ${(cause as Error).message}`, { cause });
  });
  const at = (name: string) => `${path}/${isUrl ? encodeURIComponent(name) : name}`;
  return Object.fromEntries(names.map((name) => [name, { kind: 'path', path: at(name) }]));
}

/** The files of the folder at a path or an address. */
export async function folderAt(given: ModelData): Promise<Folder> {
  const place = await located(given);
  if (isNode && (place.kind === 'path' || place.kind === 'folder')) return localFolder(place.path);
  if (place.kind === 'url' || place.kind === 'hub') return (await hostedFolder(place)).folder;
  if (place.kind === 'listed') return listedFolder(place);
  throw new WasmformerError('import', 'the source must be a folder, not one file');
}

// Servers do not list their folders, so each file is requested by name.
const settings = ['config.json', 'source.spm', 'target.spm', 'vocab.json'];
const settingsOfBert = ['config.json', 'vocab.txt'];
const further = ['generation_config.json', 'tokenizer_config.json', 'target_vocab.json'];
const weights = ['model.safetensors', 'pytorch_model.bin'];

/** File among these with the weights to read. */
export const weightsOf = (names: string[]) =>
  weights.find((name) => names.includes(name)) ?? [...names].sort().find((name) => /^model.*\.bin(\.gz|\.zst)?$/.test(name));

/** The files of a model in a list, with its languages. */
export async function listedFolder(data: ListData): Promise<Folder> {
  const { files, from, to } = await listedModel(data);
  const metadata = new TextEncoder().encode(JSON.stringify({ sourceLanguage: from, targetLanguage: to }));
  const folder: Folder = { 'metadata.json': { kind: 'bytes', bytes: metadata } };
  const { list } = data;
  // Not to other hosts, which the list may name.
  const isOfList = (url: string) => list.kind === 'url' && URL.canParse(url) && new URL(url).origin === new URL(list.url).origin;
  const request = (url: string) => (list.kind === 'url' && isOfList(url) ? list.request : undefined);
  for (const [name, file] of Object.entries(files)) folder[name] = { kind: 'url', ...file, request: request(file.url) };
  return folder;
}

// Beside Mozilla's metadata.json; PAIR stands for the languages, such as deen.
const studentFiles = ['model.PAIR.intgemm.alphas.bin', 'lex.50.50.PAIR.s2t.bin', 'vocab.PAIR.spm', 'srcvocab.PAIR.spm', 'trgvocab.PAIR.spm'];

export async function hostedFolder({ url, request }: WebAddress): Promise<{ folder: Folder; heads: Heads }> {
  const base = url.endsWith('/') ? url : `${url}/`;
  const ask = async (name: string) => {
    const answer = await fetch(new URL(name, base), { ...request, method: 'HEAD' }).catch((cause: unknown) => {
      throw fetchFailed('import', `${base}${name}`, (cause as Error).message, cause);
    });
    return [name, answer] as const;
  };
  const asked = new Set([...settings, ...settingsOfBert, ...further, ...weights, 'metadata.json']);
  const heads = new Map(await Promise.all([...asked].map(ask)));
  const at = (name: string) => [name, { kind: 'url', url: new URL(name, base).href, request, length: lengthOf(heads.get(name)!.headers) }] as const;
  const isThere = (name: string) => heads.get(name)!.ok;
  const ofBert = isThere('vocab.txt') && !isThere('source.spm');
  const needed = ofBert ? settingsOfBert : settings;
  // The code that reads the folder reports missing files, because it knows which ones this kind of model needs.
  const isMissing = (name: string) => name !== 'config.json' && heads.get(name)!.status === 404;
  let wanted = [
    ...needed.filter((name) => !isMissing(name)),
    ...further.filter(isThere),
    ...weights.filter(isThere).slice(0, 1),
  ];
  if (!isThere('config.json') && isThere('metadata.json')) {
    const { sourceLanguage, targetLanguage } = await readJson(at('metadata.json')[1]);
    const names = studentFiles.map((name) => name.replace('PAIR', `${sourceLanguage}${targetLanguage}`));
    const found = await Promise.all(names.flatMap((name) => [name, `${name}.gz`, `${name}.zst`]).map(ask));
    for (const [name, answer] of found) heads.set(name, answer);
    wanted = ['metadata.json', ...found.flatMap(([name, answer]) => (answer.ok ? name : []))];
  }
  return { folder: Object.fromEntries(wanted.map(at)), heads };
}
