// Importing the package starts nothing: the worker and the module come with the first load().
export { Translator } from './client.js';
export { storedModels } from './stored.js';
export type {
  Attention,
  AttentionHead,
  AttentionInternals,
  AttentionMaps,
  BeamNode,
  Build,
  Candidate,
  Hypothesis,
  Internals,
  LayerInternals,
  LoadOptions,
  ModelConfig,
  ModelSource,
  NumberRows,
  SamplingOptions,
  SourceToken,
  StackInternals,
  StoredModel,
  TargetToken,
  TranslateOptions,
  Translation,
  TranslatorInfo,
} from './types.js';
