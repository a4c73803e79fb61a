// Importing the package starts nothing: the worker and the module come with the first load().
export { Translator } from './client.js';
export { storedModels } from './stored.js';
export type {
  Attention,
  AttentionMaps,
  Build,
  Candidate,
  Hypothesis,
  LoadOptions,
  ModelConfig,
  ModelSource,
  SamplingOptions,
  SourceToken,
  StoredModel,
  TargetToken,
  TranslateOptions,
  Translation,
  TranslatorInfo,
} from './types.js';
