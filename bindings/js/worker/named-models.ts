// Models by name, such as 'de-en': a file of an installed package, or one in a folder of a server.
import { bundledModels } from '../generated/bundled-models.js';
import { version } from '../generated/version.js';
import { WasmformerError } from '../shared/errors.js';
import { installedFile } from '../shared/installed.js';
import { isNode } from '../shared/platform.js';
import type { ModelData, NamedData } from '../shared/protocol.js';

const packageOf = (name: string) => `wasmformer-${name}`;

/** Address at which browsers find the package of a bundled model. */
const packageFolder = (name: string) => `https://cdn.jsdelivr.net/npm/${packageOf(name)}@${version}/`;

/** Advice for those who lack the package; its publication changes this sentence. */
function adviceFor(name: string): string {
  if (!(name in bundledModels)) return `the bundled models are ${Object.keys(bundledModels).join(', ')}`;
  return `it is not on npm yet: 'node bindings/tools/build.mjs model-packages' in a clone of Wasmformer makes it`;
}

/** The file of a model by name; its digest is that of the build, where browsers can compute digests. */
export async function namedModel({ name, installed, folder, request }: NamedData): Promise<ModelData> {
  const file = `${name}.safetensors`;
  if (isNode && installed) return { kind: 'path', path: await installedFile('load', { name: packageOf(name), file, advice: adviceFor(name) }, installed) };
  const digest = bundledModels[name];
  if (!folder && !digest) {
    const sentence = `there is no model '${name}' on the web; ${adviceFor(name)}; for others, set modelsURL to their folder`;
    throw new WasmformerError('unknown-model', sentence, { room: 'load', details: { name } });
  }
  const url = new URL(file, folder ?? packageFolder(name)).href;
  const integrity = globalThis.crypto?.subtle ? digest : undefined;
  return url.startsWith('file:') ? { kind: 'path', path: url, integrity } : { kind: 'url', url, request, integrity };
}

const ofNetwork = ['fetch-failed', 'not-found', 'http-status'];

/** The result of `reading` a model. If that is one by name, and its package is not on the web, the error says what to do. */
export async function withAdvice<T>(model: ModelData, reading: Promise<T>): Promise<T> {
  return reading.catch((error: unknown) => {
    if (model.kind !== 'named' || model.folder || !(error instanceof WasmformerError) || !ofNetwork.includes(error.code)) throw error;
    const sentence = `${error.sentence}; ${adviceFor(model.name)}; or set modelsURL to the folder of a copy`;
    throw new WasmformerError(error.code, sentence, { room: 'load', details: error.details, cause: error });
  });
}
