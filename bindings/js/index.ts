// Importing the package starts nothing: load() starts the worker and its WebAssembly module.
export { Translator, type RemoteModel, type RemoteTranslator } from './page/translator.js';
export { Classifier, Tagger } from './page/encoders.js';
export { storedModels } from './shared/platform.js';
export { Trainer } from './page/trainer.js';
export type * from './shared/page-types.js';
export type * from './shared/trainer-types.js';
export type * from './shared/types.js';
