// Importing the package starts nothing: the worker and the module come with the first load().
export { Translator } from './client.js';
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
  TargetToken,
  TranslateOptions,
  Translation,
  TranslatorInfo,
} from './types.js';
