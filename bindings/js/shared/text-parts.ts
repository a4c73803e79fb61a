// Parts of texts, and those that were copied instead of translated.
import type { KeepName } from '../generated/options.js';

/** A part of a text: text.slice(start, end), counted in UTF-16 units as JavaScript does. */
export interface TextPart {
  text: string;
  start: number;
  end: number;
}

/** A part that was copied instead of translated. */
export interface KeptPart {
  /** Name of the option `keep` that found it; 'own' for a regular expression. */
  kind: Exclude<KeepName, 'typography' | 'off'> | 'own';
  source: TextPart;
  /** In the translation: numbers have the separators of its language. */
  target: TextPart;
}
