// The options of pipelines: how they are checked, and warnings of those without effect.
import {
  callback, isObject, oneOf, otherNames, otherSamplingNames, signal, string, whole, type Rule, type Rules,
} from '../shared/checks.js';
import { loadRules, workerRules } from '../api/arguments.js';
import { ignoredGeneration, ignoredOptions } from './ignored.js';
import type { ClassificationOptions, GenerationOptions, PipelineOptions, TaggingOptions } from './types.js';

/** Precisions by their names in Transformers.js, the values of `dtype`. */
export const precisions: Readonly<Record<string, 'f32' | 'f16' | 'int8'>> = {
  fp32: 'f32',
  fp16: 'f16',
  int8: 'int8',
  q8: 'int8',
};

const anything: Rule = { accepts: () => true, expected: 'any value' };
const allOf = <Name extends string>(names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, anything])) as Record<Name, Rule>;

export const pipelineRules: Rules<Omit<PipelineOptions, 'hub'>> = {
  ...workerRules,
  ...allOf(ignoredOptions),
  progress_callback: callback,
  device: string,
  dtype: string,
  hubURL: loadRules.hubURL,
  modelsURL: loadRules.modelsURL,
  integrity: loadRules.integrity,
  signal,
};
export const classificationRules: Rules<ClassificationOptions> = {
  top_k: {
    accepts: (value) => value === null || whole(1).accepts(value),
    expected: 'a whole number from 1 on, or null',
  },
  signal,
};
export const taggingRules: Rules<TaggingOptions> = {
  aggregation_strategy: oneOf('none', 'simple'),
  ignore_labels: { accepts: Array.isArray, expected: 'an array of tags' },
  signal,
};
export const generationRules = allOf([
  ...Object.keys({ ...otherNames, ...otherSamplingNames }),
  'max_length', 'src_lang', 'tgt_lang', 'streamer', 'signal',
  ...ignoredGeneration,
]) as Rules<GenerationOptions>;

/** In Transformers.js, null means that an option is not given. */
export function withoutNull<T>(options: T): T {
  if (!isObject(options)) return options;
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null)) as T;
}

const warnings = new Set<string>();
/** Once for each. */
export function warn(message: string): void {
  if (!warnings.has(message)) console.warn(`[pipeline] ${message}`);
  warnings.add(message);
}

const instead: Readonly<Record<string, string>> = {
  length_penalty: '; Translator.translate has its own lengthPenalty',
  revision: '; use the address …/tree/REVISION',
};

export function warnOf(ignored: readonly string[], given: object): void {
  for (const name of ignored.filter((name) => name in given)) {
    warn(`${name} has no effect here${instead[name] ?? ''}`);
  }
}
