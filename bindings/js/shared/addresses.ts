// Options that are addresses.
import { show, type Rule } from './checks.js';
import { WasmformerTypeError } from './errors.js';
import { isNode } from './platform.js';

export const address: Rule = {
  accepts: (value) => value instanceof URL || (typeof value === 'string' && value !== ''), expected: 'a URL',
};

/** Base of relative addresses: undefined in Node, also if something plays a page there. */
export function baseAddress(): string | undefined {
  if (isNode && globalThis.document) return undefined;
  return globalThis.document?.baseURI ?? globalThis.location?.href;
}

/** A folder, with or without the slash at its end, as an absolute address with it. */
export const absoluteFolder = (place: string, name: string, given: string | URL | undefined): string | undefined =>
  absolute(place, name, given)?.href.replace(/\/*$/, '/');

/** The option `name` of a call as an absolute address, for a page or for Node. */
export function absolute(place: string, name: string, given: string | URL | undefined): URL | undefined {
  if (given === undefined) return undefined;
  try {
    return new URL(given, baseAddress());
  } catch {
    throw new WasmformerTypeError(place, `${name} must be a URL, not ${show(given)}`);
  }
}
