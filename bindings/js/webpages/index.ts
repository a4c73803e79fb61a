// `wasmformer/webpages`: what is needed besides a Translator to translate whole texts and pages. `wasmformer/pages` is the
// same.
export { joint, split, type Part } from '../shared/sentences.js';
export { cached, type Cached } from './cached.js';
export type { Composed, SentenceOptions } from './composed.js';
export { translateDocument } from './document.js';
export { pivot, type PivotTranslation } from './pivot.js';
export type * from '../shared/webpage-types.js';
