// Files that are stored compressed, as Mozilla's are.
import { WasmformerError } from '../shared/errors.js';
import { isNode, nodeModule } from '../shared/platform.js';
import type { Bytes, ModelData } from '../shared/protocol.js';
import { nameOf, readBytes } from './download.js';
import { decompress } from './zstd.js';

type Zlib = typeof import('node:zlib') & { zstdDecompressSync?(bytes: Bytes): Bytes }; // which Node 20 lacks
/** The content of gzip or Zstandard data; other bytes as they are, since a server may have unpacked them. */
export async function unpacked(name: string, bytes: Bytes): Promise<Bytes> {
  const kind = { '31,139': 'gzip', '40,181': 'Zstandard' }[bytes.subarray(0, 2).join()];
  try {
    const zlib = isNode && kind ? await nodeModule<Zlib>('zlib') : undefined;
    if (kind === 'Zstandard') return zlib?.zstdDecompressSync?.(bytes) ?? (decompress(bytes) as Bytes);
    if (kind === undefined || zlib) return zlib?.gunzipSync(bytes) ?? bytes;
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch (cause) {
    throw new WasmformerError(
      'unpack-failed', `${name} could not be unpacked: its ${kind} data is damaged or cut short`,
      { room: 'load', details: { name, kind: kind! }, cause },
    );
  }
}

/** A JSON object from a file; its values may have any type. */
export async function readJson(data: ModelData): Promise<Record<string, unknown>> {
  const text = new TextDecoder().decode(await unpacked(nameOf(data), await readBytes(data, () => {})));
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch (cause) {
    const name = nameOf(data);
    throw new WasmformerError('file-not-json', `${name} is not JSON: ${(cause as Error).message}`, { room: 'load', details: { name }, cause });
  }
}
