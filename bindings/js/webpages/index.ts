// `wasmformer/webpages`: what is needed besides a Translator to translate whole texts and pages. `wasmformer/pages` is the
// same.
import { joinSentence, splitSentences, type SentencePart } from '../shared/sentences.js';

export { joinSentence, splitSentences, type SentencePart } from '../shared/sentences.js';
export { byLanguage, type LanguageTranslation } from './by-language.js';
export { cached, type Cached } from './cached.js';
export type { Composed, SentenceOptions } from './composed.js';
export { translateDocument } from './document.js';
export { pivot, type PivotTranslation } from './pivot.js';
export type * from '../shared/webpage-types.js';

/** @deprecated use splitSentences */
export const split = splitSentences;
/** @deprecated use joinSentence */
export const joint = joinSentence;
/** @deprecated use SentencePart */
export type Part = SentencePart;
