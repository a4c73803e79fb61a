/// <reference lib="esnext.disposable" preserve="true" />
// Differences between browsers, Node (Deno, Bun) and their versions.
import { WasmformerError } from './errors.js';

/** Node, or a runtime that has its modules, as Deno and Bun do; not a page, even where Electron gives it those too. */
export const isNode = typeof process === 'object' && !!process.versions?.node && typeof document === 'undefined';

/** A module of Node, under a name that bundlers for browsers do not try to resolve. */
export function nodeModule<T>(name: string): Promise<T> {
  return import(/* webpackIgnore: true */ /* @vite-ignore */ `node:${name}`) as Promise<T>;
}

/** The error of places where the package cannot run. */
export const notHere = (room: string, what: string, cause?: unknown) =>
  new WasmformerError('not-here', `${what}; in a service worker, send the texts to a page that has loaded the model`, { room, cause });

/** Symbol.dispose, which Node 20 may not have yet. */
export const dispose: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');

/** Returns whether a script has another origin than the page, such as a CDN. (webpack gives file: for all scripts.) */
export function isCrossOrigin({ protocol, origin }: URL): boolean {
  return protocol.startsWith('http') && typeof location === 'object' && origin !== location.origin;
}

/** An address that a worker may start from: a page may not start another origin's script, but its own may import it. */
export function sameOriginScript(script: URL): URL {
  if (!isCrossOrigin(script)) return script;
  const text = `import ${JSON.stringify(script.href)};`;
  return new URL(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })));
}
