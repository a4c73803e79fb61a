// The browser's own classes.
import { settings } from './settings.js';

interface NativeClass {
  availability(options: object | undefined): Promise<string>;
  create(options: object | undefined): Promise<object>;
}

/** The browser's class of that name, if `native` is set and it supports the request; `own`: this package's class. */
export async function nativeFor(
  name: 'Translator' | 'LanguageDetector', own: object, options: object | undefined,
): Promise<NativeClass | undefined> {
  if (!settings.native) return undefined;
  const found = (globalThis as Partial<Record<typeof name, NativeClass>>)[name];
  if (!found || found === own) return undefined;
  return await found.availability(options) === 'unavailable' ? undefined : found;
}
