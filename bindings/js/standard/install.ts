// The standard's names as globals.
import { LanguageDetector } from './detector.js';
import { Translator } from './translator.js';

/**
 * Defines `Translator` and `LanguageDetector` as globals where the browser has none.
 * @returns the names that it has defined
 */
export function install(): string[] {
  const missing = Object.entries({ Translator, LanguageDetector }).filter(([name]) => !(name in globalThis));
  for (const [name, value] of missing) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  }
  return missing.map(([name]) => name);
}
