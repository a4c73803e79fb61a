// `wasmformer/standard`: Translator and LanguageDetector in the shape that browsers give them. Importing it changes nothing.
export { Translator, type TranslatorCreateOptions, type TranslatorLanguages } from './translator.js';
export {
  LanguageDetector, type LanguageDetectionResult, type LanguageDetectorCreateOptions, type LanguageDetectorLanguages,
} from './detector.js';
export {
  registerDetector, registerList, registerPair, type Availability, type DetectorOptions, type LanguageConfidence,
  type ModelRequest, type PairOptions, type RegisteredPair, type TextDetector, type TextTranslator,
} from './registry.js';
export { Destroyable, type CallOptions, type CreateOptions } from './destroyable.js';
export { CreateMonitor, type ProgressListener } from './monitor.js';
export type { OnProgress } from './shared-model.js';
export { configure, type Settings } from './settings.js';
export { install } from './install.js';
