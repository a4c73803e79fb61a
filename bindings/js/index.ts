// Importing the package starts nothing: load() starts the worker and its WebAssembly module.
export { version } from './generated/version.js';
export { Translator, type RemoteModel, type RemoteTranslator } from './api/translator.js';
export { Classifier, Tagger } from './api/encoders.js';
export { WasmformerError, type ErrorDetails } from './shared/errors.js';
export { storedModels } from './shared/stored-models.js';
export { Trainer } from './api/trainer.js';
export { Learner } from './api/learner.js';
export type * from './shared/old-names.js';
export type * from './shared/webpage-types.js';
export type * from './shared/trainer-types.js';
export type * from './shared/learner-types.js';
export type * from './shared/types.js';
