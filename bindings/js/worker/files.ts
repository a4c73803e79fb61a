// The files of the modules. In the one-file build, bindings/one-file/files.ts replaces this file.
import { nodeModule, sameOriginScript } from '../shared/platform.js';
import type { Build } from '../shared/types.js';

/** A build of the module, or the module for conversions and tokenizers. */
export type ModuleName = Build | `${Build}-threads` | 'extras';

/** The builds that this package has, best first. */
export const builds: readonly Build[] = ['relaxed', 'simd'];

// Emscripten's script for each module, and the module. Each address is written in full, since that is how bundlers find
// files: `new URL('…', import.meta.url)`. Relaxed and plain SIMD have the same script.
const addresses: Record<ModuleName, { glue: URL; wasm: URL }> = {
  relaxed: {
    glue: new URL('../wasm/relaxed/wasmformer.mjs', import.meta.url),
    wasm: new URL('../wasm/relaxed/wasmformer.wasm', import.meta.url),
  },
  simd: {
    glue: new URL('../wasm/relaxed/wasmformer.mjs', import.meta.url),
    wasm: new URL('../wasm/simd/wasmformer.wasm', import.meta.url),
  },
  'relaxed-threads': {
    glue: new URL('../wasm/relaxed-threads/wasmformer.mjs', import.meta.url),
    wasm: new URL('../wasm/relaxed-threads/wasmformer.wasm', import.meta.url),
  },
  'simd-threads': {
    glue: new URL('../wasm/relaxed-threads/wasmformer.mjs', import.meta.url),
    wasm: new URL('../wasm/simd-threads/wasmformer.wasm', import.meta.url),
  },
  extras: {
    glue: new URL('../wasm/extras/extras.mjs', import.meta.url),
    wasm: new URL('../wasm/extras/extras.wasm', import.meta.url),
  },
};

async function compile(url: URL): Promise<WebAssembly.Module> {
  if (url.protocol === 'file:') {
    const { readFile } = await nodeModule<typeof import('node:fs/promises')>('fs/promises');
    return WebAssembly.compile(await readFile(url));
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`[build] ${url.href} answered ${response.status} ${response.statusText}`);
  // Streaming compilation needs this type, which some servers do not send.
  if (response.headers.get('content-type')?.startsWith('application/wasm')) {
    return WebAssembly.compileStreaming(response);
  }
  return WebAssembly.compile(await response.arrayBuffer());
}

/** A compiled module, and the default export of Emscripten's script for it. */
export async function readModule<Factory>(
  name: ModuleName,
): Promise<{ factory: Factory; compiled: WebAssembly.Module }> {
  const { glue, wasm } = addresses[name];
  const [{ default: factory }, compiled] = await Promise.all([
    import(/* webpackIgnore: true */ /* @vite-ignore */ glue.href) as Promise<{ default: Factory }>,
    compile(wasm),
  ]);
  return { factory, compiled };
}

/** fzstd, which unpacks Zstandard. */
export const zstd = () =>
  import(/* webpackIgnore: true */ /* @vite-ignore */ new URL('./zstd.js', import.meta.url).href) as Promise<{ decompress(bytes: Uint8Array): Uint8Array }>;

/** The script that the workers of a module's threads run. */
export function threadScript(name: ModuleName): URL {
  return sameOriginScript(addresses[name].glue);
}
