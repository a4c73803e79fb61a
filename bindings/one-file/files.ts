// In the place of bindings/js/files.ts: the modules are inside the script.
import factory from 'inside:glue';
import { relaxed, changes } from 'inside:modules';
import type { ModuleName } from '../js/files.js';
import { changed } from './changes.mjs';

async function unpacked(base64: string): Promise<Uint8Array<ArrayBuffer>> {
  const packed = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function readModule<Factory>(name: ModuleName): Promise<{ factory: Factory; compiled: WebAssembly.Module }> {
  if (name === 'extras') {
    throw new Error("[tokenizer] the one-file build learns no pieces; choose the tokenizer 'char' or 'word', or give its files");
  }
  const first = await unpacked(relaxed);
  const bytes = name === 'relaxed' ? first : changed(first, await unpacked(changes));
  return { factory: factory as Factory, compiled: await WebAssembly.compile(bytes) };
}

/** Never called, as there are no threads. */
export function threadScript(): undefined {}
