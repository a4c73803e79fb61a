/// <reference lib="esnext.disposable" preserve="true" />
// Differences between browsers, Node (Deno, Bun) and their versions.
import { WasmformerError } from './errors.js';

const isPage = typeof document === 'object' && typeof Worker === 'function';

/**
 * Node, or a runtime that has its modules, as Deno and Bun do; not a page, even where Electron gives it those too.
 * A page that jsdom or happy-dom plays in Node has no workers of its own, so it counts as Node.
 * Conditions begin with it, so that builds for browsers can leave out what only Node does.
 */
export const isNode = typeof process === 'object' && !!process.versions?.node && !isPage;

/** A module of Node, under a name that bundlers for browsers do not try to resolve. */
export function nodeModule<T>(name: string): Promise<T> {
  return import(/* webpackIgnore: true */ /* @vite-ignore */ `node:${name}`) as Promise<T>;
}

/** The error of places where a part of the package cannot run; `advice`: what can. */
export const notHere = (room: string, what: string, advice: string, cause?: unknown) =>
  new WasmformerError('not-here', `${what}; ${advice}`, { room, cause });

/** Symbol.dispose, which Node 20 may not have yet. */
export const dispose: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');

/**
 * Returns whether a script has another origin than the page, such as a CDN. (webpack gives file: for all scripts.)
 * A frame in a sandbox has the origin 'null', which no script has.
 */
export function isCrossOrigin({ protocol, origin }: URL): boolean {
  return protocol.startsWith('http') && typeof location === 'object' && origin !== globalThis.origin;
}

/** An address that a worker may start from: a page may not start another origin's script, but its own may import it. */
export function sameOriginScript(script: URL): URL {
  if (!isCrossOrigin(script)) return script;
  const text = `import ${JSON.stringify(script.href)};`;
  // Chromium starts no module of a blob: in a frame whose origin is that of nobody.
  if (globalThis.origin === 'null') return new URL(`data:text/javascript,${encodeURIComponent(text)}`);
  return new URL(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })));
}

/** As much of the browser's Trusted Types as is used; TypeScript does not declare them. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): TrustedPolicy;
}
interface TrustedPolicy {
  createScriptURL(url: string): URL;
}
let policy: TrustedPolicy | undefined;

/** The address of a script, by the policy `wasmformer` if the browser has Trusted Types, which a page may demand. */
export function trusted(script: URL): URL {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  if (!trustedTypes) return script;
  try {
    policy ??= trustedTypes.createPolicy('wasmformer', { createScriptURL: (url) => url });
  } catch {
    return script; // the page allows no policy of this name
  }
  return policy.createScriptURL(script.href);
}
