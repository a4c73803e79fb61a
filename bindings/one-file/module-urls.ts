// Replaces bindings/js/worker/module-urls.ts: the module is inside the script.
import { WasmformerError } from '../js/shared/errors.js';
import factory from 'inside:glue';
import module from 'inside:module';
import type { WasmBuild } from '../js/shared/types.js';
import type { ModuleName } from '../js/worker/module-urls.js';

/** It runs everywhere. */
export const builds: readonly WasmBuild[] = ['simd'];

async function unpacked(base64: string): Promise<Uint8Array<ArrayBuffer>> {
  const packed = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function readModule<Factory>(
  name: ModuleName,
): Promise<{ factory: Factory; compiled: WebAssembly.Module }> {
  if (name === 'extras') {
    throw new WasmformerError(
      'tokenizer', "the one-file build cannot train a tokenizer; choose the tokenizer 'char' or 'word', or give its files",
    );
  }
  return { factory: factory as Factory, compiled: await WebAssembly.compile(await unpacked(module)) };
}

/** Does nothing: the module is inside the script. */
export function setFiles(): void {}
/** Never called: there are no threads. */
export function threadScript(): undefined {}
