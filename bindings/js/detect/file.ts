// Reads the model's file: of the installed package, from an address or path, or from bytes.
import { fetchFailed, httpStatus, WasmformerError } from '../shared/errors.js';
import { installedFile, programFolders } from '../shared/installed.js';
import { isNode, nodeModule } from '../shared/platform.js';

/** An address, in Node also a path, or the bytes of a file. */
export type DetectorSource = string | URL | ArrayBuffer | Uint8Array;

const ROOM = 'detect';
const PACKAGE = 'wasmformer-detect';

const advice = 'give loadDetector() the address of its model';

/** The installed package's model: its path, or in a page with an import map its address. */
async function installedModel(): Promise<string | URL> {
  if (isNode) return installedFile(ROOM, { name: PACKAGE, file: 'detect.safetensors', advice }, programFolders());
  try {
    // Bundlers for browsers do not try to resolve the name.
    const found = await import(/* webpackIgnore: true */ /* @vite-ignore */ PACKAGE) as { default: URL };
    return found.default;
  } catch (error) {
    const sentence = `the package ${PACKAGE} is not installed here; ${advice}`;
    throw new WasmformerError('not-installed', sentence, { room: ROOM, details: { name: PACKAGE }, cause: error });
  }
}

const whyOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

async function readPath(path: string | URL): Promise<Uint8Array> {
  const { readFile } = await nodeModule<typeof import('node:fs/promises')>('fs/promises');
  return readFile(path).catch((error: unknown) => {
    const why = whyOf(error);
    const details = { path: String(path), why };
    const sentence = `${details.path} could not be read: ${why}`;
    throw new WasmformerError('read-failed', sentence, { room: ROOM, details, cause: error });
  });
}

async function download(url: string): Promise<Uint8Array> {
  const failed = (error: unknown) => {
    throw fetchFailed(ROOM, url, whyOf(error), error);
  };
  const response = await fetch(url).catch(failed);
  if (!response.ok) throw httpStatus(ROOM, url, response);
  return new Uint8Array(await response.arrayBuffer().catch(failed));
}

export async function readDetectorFile(source?: DetectorSource): Promise<Uint8Array> {
  if (source instanceof Uint8Array) return source;
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  const address = source ?? await installedModel();
  if (!isNode || /^(https?|data|blob):/.test(String(address))) return download(String(address));
  return readPath(String(address).startsWith('file:') ? new URL(address) : address);
}
