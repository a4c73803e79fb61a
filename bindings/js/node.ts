/** Node, or one that has its modules, as Deno and Bun have; not a page, even where Electron gives it those too. */
export const isNode = typeof process === 'object' && !!process.versions?.node && typeof document === 'undefined';

/** A module of Node (Deno and Bun have them too), under a name that bundlers for browsers do not try to resolve. */
export function nodeModule<T>(name: string): Promise<T> {
  return import(/* webpackIgnore: true */ /* @vite-ignore */ `node:${name}`) as Promise<T>;
}
