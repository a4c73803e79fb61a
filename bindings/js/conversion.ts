// What the worker does for convert.ts.
import { readBytes } from './download.js';
import { type NativeExtras, withExtras } from './extras.js';
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
  const files = await readFolder(given, onProgress);
  const read = (module: NativeExtras) => module.readMarian(Object.keys(files), Object.values(files), languages, precision);
  return { 'model.safetensors': blob(await withExtras(read)) };
}

const blob = (bytes: Uint8Array) => new Blob([bytes as Bytes], { type: 'application/octet-stream' });

/** The files of a folder that reading a model takes. */
async function readFolder(folder: Folder, onProgress: Progress): Promise<Record<string, Bytes>> {
  const names = await withExtras((module) => module.marianFiles(Object.keys(folder)));
  const loaded: Record<string, number> = {};
  const totals: Record<string, number | undefined> = {};
  const files: Record<string, Bytes> = {};
  const sum = (numbers: Record<string, number | undefined>) =>
    names.reduce<number | undefined>((all, name) => (all === undefined || numbers[name] === undefined ? undefined : all + numbers[name]), 0);
  await Promise.all(
    names.map(async (name) => {
      files[name] = await readBytes(folder[name]!, (soFar, total) => {
        loaded[name] = soFar;
        totals[name] = total;
        onProgress(sum({ ...Object.fromEntries(names.map((other) => [other, 0])), ...loaded })!, sum(totals));
      });
    }),
  );
  return files;
}

async function folderAt(place: ModelData): Promise<Folder> {
  if (place.kind === 'path') {
    const { readdir } = await nodeModule<typeof import('node:fs/promises')>('fs/promises');
    const folder = place.path.startsWith('file:') ? decodeURIComponent(new URL(place.path).pathname) : place.path;
    const names = await readdir(folder).catch((cause: unknown) => {
      throw new Error(`[import] the folder ${folder} could not be read: ${(cause as Error).message}`, { cause });
    });
    return Object.fromEntries(names.map((name) => [name, { kind: 'path', path: `${folder}/${name}` }]));
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
    const stop = new AbortController();
    const response = await fetch(new URL(name, base), { signal: stop.signal }).catch((cause: unknown) => {
      throw new Error(`[import] ${base}${name} could not be fetched: ${(cause as Error).message}`, { cause });
    });
    stop.abort(); // the head was all that was wanted
    return response.ok;
  };
  const found = await Promise.all([...further, ...weights].map(async (name) => (await there(name)) && name));
  const present = found.filter((name) => name !== false);
  return Object.fromEntries([...settings, ...present].map((name) => [name, at(name)]));
}
