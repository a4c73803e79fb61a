// The extras module, for what is done once: conversions of models and the training of tokenizers. It is fetched when it
// is needed, and dropped afterwards.
import { wellFormed } from '../shared/options.js';
import { nodeModule } from '../shared/platform.js';
import type { Bytes, Conversion, ModelData } from '../shared/protocol.js';
import { checkIntegrity, lengthOf, located, readBytes, type Progress } from './download.js';
import { errorOf, startModule } from './module.js';
import type { ExceptionHelpers, TokenizerOptions } from './native.js';

interface NativeFolder {
  names: string[];
  files: Uint8Array[];
}

/** What bindings/extras.cpp declares. */
interface NativeExtras {
  trainTokenizer(sentences: string[], options: TokenizerOptions): Uint8Array;
  marianFiles(names: string[]): string[];
  readMarian(names: string[], files: Uint8Array[], languages: string, precision: string): Uint8Array;
  writeMarian(model: Uint8Array, precision: string): NativeFolder;
  writeOnnx(model: Uint8Array): NativeFolder;
}

/** The result of `use`, which blocks while it works. Throws the module's errors. */
async function withExtras<T>(use: (module: NativeExtras) => T): Promise<T> {
  const { module } = await startModule<NativeExtras & ExceptionHelpers>('extras');
  try {
    return use(module);
  } catch (thrown) {
    throw errorOf(module, thrown);
  }
}

/**
 * The bytes of a SentencePiece .model file, the same as the native program makes of these sentences. Throws if the text
 * is too short for `vocabSize` pieces.
 */
export function trainTokenizer(sentences: readonly string[], options: TokenizerOptions): Promise<Uint8Array> {
  return withExtras((module) => module.trainTokenizer(sentences.map(wellFormed), options));
}

type Folder = Record<string, ModelData>;
/** What the host answers to a question for each file that a folder may have. */
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

/** `integrity`: a file's name, and the digest that it must have. */
export async function convertFolder(
  folder: Folder, precision: string, languages: string, onProgress: Progress, heads?: Heads,
  integrity?: readonly [name: string, digest: string],
): Promise<Bytes> {
  const { names, files } = await readFolder(folder, onProgress, heads);
  if (integrity) await checkIntegrity(integrity[0], files[names.indexOf(integrity[0])]!, integrity[1]);
  return withExtras((module) => module.readMarian(names, files, languages, precision) as Bytes);
}

const blob = (bytes: Uint8Array) => new Blob([bytes as Bytes], { type: 'application/octet-stream' });

/** The files of a folder that reading a model takes. */
async function readFolder(
  folder: Folder, onProgress: Progress, heads?: Heads,
): Promise<{ names: string[]; files: Bytes[] }> {
  const names = await withExtras((module) => module.marianFiles(Object.keys(folder)));
  const lengths = names.map((name) => heads?.has(name) && lengthOf(heads.get(name)!.headers));
  const all = lengths.map((total) => ({ loaded: 0, total: total || NaN })); // until it is known
  const sum = (key: 'loaded' | 'total') => all.reduce((so, file) => so + file[key], 0);
  const read = (name: string, i: number) =>
    readBytes(folder[name]!, (loaded, total = NaN) => {
      all[i] = { loaded, total };
      onProgress(sum('loaded'), sum('total') || undefined);
    });
  return { names, files: await Promise.all(names.map(read)) };
}

/** The files of the folder at a path or an address. */
export async function folderAt(given: ModelData): Promise<Folder> {
  const place = await located(given);
  if (place.kind === 'path' || place.kind === 'folder') {
    const { readdir } = await nodeModule<typeof import('node:fs/promises')>('fs/promises');
    const isUrl = place.path.startsWith('file:');
    const names = await readdir(isUrl ? new URL(place.path) : place.path).catch((cause: unknown) => {
      throw new Error(`[import] the folder ${place.path} could not be read: ${(cause as Error).message}`, { cause });
    });
    const at = (name: string) => `${place.path}/${isUrl ? encodeURIComponent(name) : name}`;
    return Object.fromEntries(names.map((name) => [name, { kind: 'path', path: at(name) }]));
  }
  if (place.kind === 'url' || place.kind === 'hub') return (await hostedFolder(place.url)).folder;
  throw new Error('[import] the source must be a folder, not one file');
}

// Servers do not list their folders, so each file is asked for.
const settings = ['config.json', 'source.spm', 'target.spm', 'vocab.json'];
const further = ['generation_config.json', 'tokenizer_config.json', 'target_vocab.json'];
export const weights = ['model.safetensors', 'pytorch_model.bin'];

/** The file of the weights that is read. */
export const weightsOf = (heads: Heads) => weights.find((name) => heads.get(name)!.ok);

export async function hostedFolder(address: string): Promise<{ folder: Folder; heads: Heads }> {
  const base = address.endsWith('/') ? address : `${address}/`;
  const ask = async (name: string) => {
    const answer = await fetch(new URL(name, base), { method: 'HEAD' }).catch((cause: unknown) => {
      throw new Error(`[import] ${base}${name} could not be fetched: ${(cause as Error).message}`, { cause });
    });
    return [name, answer] as const;
  };
  const heads = new Map(await Promise.all([...settings, ...further, ...weights].map(ask)));
  const wanted = [...settings, ...further.filter((name) => heads.get(name)!.ok), ...[weightsOf(heads) ?? []].flat()];
  return { folder: Object.fromEntries(wanted.map((name) => [name, { kind: 'url', url: new URL(name, base).href }])), heads };
}
