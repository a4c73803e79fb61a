// What the worker does for convert.ts.
import { readBytes } from './download.js';
import { withExtras } from './extras.js';
import { nodeModule } from './node.js';
import type { Bytes, ConvertRequest, ModelData } from './protocol.js';

type Folder = Record<string, ModelData>;
type Progress = (loaded: number, total?: number) => void;

export async function convert(request: ConvertRequest, onProgress: Progress): Promise<Record<string, Blob>> {
  const { to, from, precision, languages } = request;
  if (to !== 'model') {
    const model = await readBytes((from as Folder).model!, onProgress);
    return withExtras((module) => {
      const { names, files } = to === 'onnx' ? module.writeOnnx(model) : module.writeMarian(model, precision);
      return Object.fromEntries(names.map((name, i) => [name, blob(files[i]!)]));
    });
  }
  const given = 'kind' in from ? await folderAt(from as ModelData) : (from as Folder);
  const { names, files } = await readFolder(given, onProgress);
  return { 'model.safetensors': blob(await withExtras((module) => module.readMarian(names, files, languages, precision))) };
}

const blob = (bytes: Uint8Array) => new Blob([bytes as Bytes], { type: 'application/octet-stream' });

/** The files of a folder that reading a model takes. */
async function readFolder(folder: Folder, onProgress: Progress): Promise<{ names: string[]; files: Bytes[] }> {
  const names = await withExtras((module) => module.marianFiles(Object.keys(folder)));
  const all = names.map(() => ({ loaded: 0, total: NaN })); // until it is known
  const sum = (key: 'loaded' | 'total') => all.reduce((so, file) => so + file[key], 0);
  const read = (name: string, i: number) =>
    readBytes(folder[name]!, (loaded, total = NaN) => {
      all[i] = { loaded, total };
      onProgress(sum('loaded'), sum('total') || undefined);
    });
  return { names, files: await Promise.all(names.map(read)) };
}

async function folderAt(place: ModelData): Promise<Folder> {
  if (place.kind === 'path') {
    const { readdir } = await nodeModule<typeof import('node:fs/promises')>('fs/promises');
    const isUrl = place.path.startsWith('file:');
    const names = await readdir(isUrl ? new URL(place.path) : place.path).catch((cause: unknown) => {
      throw new Error(`[import] the folder ${place.path} could not be read: ${(cause as Error).message}`, { cause });
    });
    const at = (name: string) => `${place.path}/${isUrl ? encodeURIComponent(name) : name}`;
    return Object.fromEntries(names.map((name) => [name, { kind: 'path', path: at(name) }]));
  }
  if (place.kind === 'url') return folderOf(place.url);
  throw new Error('[import] a folder is wanted, not one file');
}

// Servers do not list their folders, so these are asked for, one by one.
const settings = ['config.json', 'source.spm', 'target.spm', 'vocab.json'];
const further = ['generation_config.json', 'tokenizer_config.json', 'target_vocab.json'];
const weights = ['model.safetensors', 'pytorch_model.bin'];

async function folderOf(address: string): Promise<Folder> {
  const base = address.endsWith('/') ? address : `${address}/`;
  const at = (name: string): ModelData => ({ kind: 'url', url: new URL(name, base).href });
  const there = async (name: string) => {
    const response = await fetch(new URL(name, base), { method: 'HEAD' }).catch((cause: unknown) => {
      throw new Error(`[import] ${base}${name} could not be fetched: ${(cause as Error).message}`, { cause });
    });
    return response.ok;
  };
  const found = await Promise.all([...further, ...weights].map(async (name) => (await there(name)) && name));
  const present = found.filter((name) => name !== false);
  return Object.fromEntries([...settings, ...present].map((name) => [name, at(name)]));
}
