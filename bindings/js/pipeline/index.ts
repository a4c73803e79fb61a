// `wasmformer/pipeline`: pipeline('translation', model) and others as in Transformers.js.
import {
  callback, checked, oneOf, otherNames, otherSamplingNames, signal, string, whole, withNewNames, type Rule, type Rules,
} from '../shared/checks.js';
import { WasmformerError } from '../shared/errors.js';
import type {
  Attention, LoadOptions, ModelSource, TaggedSpan, TaggedToken, Translation, TranslateOptions, WorkerOptions,
} from '../shared/types.js';
import { Classifier, Tagger } from '../api/encoders.js';
import { checkWorker, loadRules, workerRules } from '../api/arguments.js';
import { streaming, type TextStreamer } from './streamer.js';
import { Translator } from '../api/translator.js';

export { TextStreamer } from './streamer.js';

const kinds = {
  translation: Translator,
  'text2text-generation': Translator,
  'text-classification': Classifier,
  'token-classification': Tagger,
} satisfies Record<PipelineTask, unknown>;
export type PipelineTask = 'translation' | 'text2text-generation' | 'text-classification' | 'token-classification';

/** What progress_callback gets; `progress` is in percent, if the size is known. */
export interface PipelineProgress {
  status: 'initiate' | 'progress' | 'done' | 'ready';
  task: PipelineTask;
  file: string;
  loaded?: number;
  total?: number;
  progress?: number;
}

// Options of Transformers.js without effect here; a warning names each that is given.
const ignoredOptions = [
  'revision', 'cache_dir', 'local_files_only', 'config', 'model_file_name', 'subfolder', 'session_options',
  'use_external_data_format',
] as const;
const ignoredGeneration = [
  'length_penalty', 'repetition_penalty', 'no_repeat_ngram_size', 'early_stopping', 'min_length', 'min_new_tokens',
  'use_cache', 'num_beam_groups', 'diversity_penalty', 'typical_p', 'epsilon_cutoff', 'bad_words_ids', 'suppress_tokens',
  'forced_bos_token_id', 'forced_eos_token_id', 'bos_token_id', 'eos_token_id', 'pad_token_id', 'decoder_start_token_id',
  'generation_config', 'return_dict_in_generate', 'output_scores', 'logits_processor', 'stopping_criteria',
] as const;

export interface PipelineOptions
  extends WorkerOptions, Pick<LoadOptions, 'hubURL' | 'hub' | 'integrity'>, Partial<Record<(typeof ignoredOptions)[number], unknown>> {
  progress_callback?: (progress: PipelineProgress) => void;
  /** Always the CPU, by WebAssembly; other devices, such as 'webgpu', only cause a warning. */
  device?: string;
  /**
   * How a model of Hugging Face is stored when it is converted: 'fp32', 'fp16', or int8 (default, and also for fewer bits).
   * A model file keeps its numbers.
   */
  dtype?: string;
  signal?: AbortSignal;
}

export interface GenerationOptions extends Partial<Record<(typeof ignoredGeneration)[number], unknown>> {
  /** Default 4, and 1 with do_sample. */
  num_beams?: number;
  /** At most num_beams. Default 1. */
  num_return_sequences?: number;
  /** Tokens, including the end token. */
  max_new_tokens?: number;
  /** The same, including the start token. */
  max_length?: number;
  do_sample?: boolean;
  /** These need do_sample; the defaults are those of Transformers.js. */
  temperature?: number;
  top_k?: number;
  top_p?: number;
  seed?: number;
  /** Must be the languages of the model, as 'de', 'deu' or 'deu_Latn'. */
  src_lang?: string;
  tgt_lang?: string;
  /** Adds `attention` to each output, as in Translation; only with one output per text. */
  output_attentions?: boolean;
  /** Gets the best text so far after each step; for several inputs, all of them. */
  callback_function?: (partial: string | string[]) => void;
  /** Gets each new part of one text; num_beams is then 1. */
  streamer?: TextStreamer;
  signal?: AbortSignal;
}

export interface TranslationOutput {
  translation_text: string;
  attention?: Attention;
}
export interface GenerationOutput {
  generated_text: string;
  attention?: Attention;
}

export interface LabelOutput {
  label: string;
  score: number;
}

export interface ClassificationOptions {
  /** Labels of each text, the most probable first; null for all. Default 1. */
  top_k?: number | null;
  signal?: AbortSignal;
}

interface AnyPipeline {
  readonly task: PipelineTask;
  dispose(): Promise<void>;
}

/** With top_k 1 each text has one output; otherwise several texts have a list each. */
export interface ClassificationPipeline extends AnyPipeline {
  (texts: string, options?: ClassificationOptions): Promise<LabelOutput[]>;
  (texts: readonly string[], options?: ClassificationOptions & { top_k?: 1 }): Promise<LabelOutput[]>;
  (texts: readonly string[], options: ClassificationOptions): Promise<LabelOutput[] | LabelOutput[][]>;
  readonly classifier: Classifier;
}

/** A word, or with aggregation_strategy 'simple' a span, which has entity_group instead of entity and index. */
export interface EntityOutput {
  entity?: string;
  entity_group?: string;
  score: number;
  /** Of the word in its text, counted from 1. */
  index?: number;
  word: string;
  /** Of the text, in UTF-16 units. */
  start: number;
  end: number;
}

export interface TaggingOptions {
  /** Words by themselves (default), or those of a span together. */
  aggregation_strategy?: 'none' | 'simple';
  /** Tags of words to leave out. Default ['O']. */
  ignore_labels?: readonly string[];
  signal?: AbortSignal;
}

/** Several texts have a list each. */
export interface TaggingPipeline extends AnyPipeline {
  (texts: string, options?: TaggingOptions): Promise<EntityOutput[]>;
  (texts: readonly string[], options?: TaggingOptions): Promise<EntityOutput[][]>;
  readonly tagger: Tagger;
}

/** Call it with one text or several; each has num_return_sequences outputs, one after the other. */
export interface Pipeline<Output> extends AnyPipeline {
  (texts: string | readonly string[], options?: GenerationOptions): Promise<Output[]>;
  readonly translator: Translator;
  /** Only for `new TextStreamer(pipe.tokenizer, …)`. */
  readonly tokenizer: unknown;
}

const anything: Rule = { accepts: () => true, expected: 'any value' };
const allOf = <Name extends string>(names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, anything])) as Record<Name, Rule>;

const pipelineRules: Rules<Omit<PipelineOptions, 'hub'>> = {
  ...workerRules,
  ...allOf(ignoredOptions),
  progress_callback: callback,
  device: string,
  dtype: string,
  hubURL: loadRules.hubURL,
  integrity: loadRules.integrity,
  signal,
};
const classificationRules: Rules<ClassificationOptions> = {
  top_k: { accepts: (value) => value === null || whole(1).accepts(value), expected: 'a whole number from 1 on, or null' },
  signal,
};
const taggingRules: Rules<TaggingOptions> = {
  aggregation_strategy: oneOf('none', 'simple'),
  ignore_labels: { accepts: Array.isArray, expected: 'an array of tags' },
  signal,
};
const generationRules = allOf([
  ...Object.keys({ ...otherNames, ...otherSamplingNames }), 'max_length', 'src_lang', 'tgt_lang', 'streamer', 'signal', ...ignoredGeneration,
]) as Rules<GenerationOptions>;

const warnings = new Set<string>();
/** Once for each. */
function warn(message: string): void {
  if (!warnings.has(message)) console.warn(`[pipeline] ${message}`);
  warnings.add(message);
}

function warnOf(ignored: readonly string[], given: object): void {
  for (const name of ignored.filter((name) => name in given)) {
    const instead = { length_penalty: '; Translator.translate has its own lengthPenalty', revision: '; use the address …/tree/REVISION' }[name];
    warn(`${name} has no effect here${instead ?? ''}`);
  }
}

/** The weights from which the ONNX files were made. */
function withWeights(model: ModelSource): ModelSource {
  const [, name] = (typeof model === 'string' && /^(?:Xenova|onnx-community)\/(opus-mt-[\w.-]+?)(?:-ONNX)?$/.exec(model)) || [];
  if (!name) return model;
  warn(`${String(model)} has ONNX files, which cannot be read; Helsinki-NLP/${name}, their source, is used instead`);
  return `Helsinki-NLP/${name}`;
}

/**
 * @param model any source that Translator.load, Classifier.load or Tagger.load takes
 * @throws for another task, an unknown or impossible option, and as Translator.load does
 * @example
 * const translate = await pipeline('translation', 'models/de-en.safetensors');
 * const [{ translation_text }] = await translate('Wo ist mein Buch?');
 * await translate.dispose();
 */
export function pipeline(
  task: 'translation',
  model: ModelSource,
  options?: PipelineOptions,
): Promise<Pipeline<TranslationOutput>>;
export function pipeline(
  task: 'text2text-generation',
  model: ModelSource,
  options?: PipelineOptions,
): Promise<Pipeline<GenerationOutput>>;
export function pipeline(
  task: 'text-classification',
  model: ModelSource,
  options?: PipelineOptions,
): Promise<ClassificationPipeline>;
export function pipeline(
  task: 'token-classification',
  model: ModelSource,
  options?: PipelineOptions,
): Promise<TaggingPipeline>;
export async function pipeline(task: PipelineTask, source: ModelSource, options: PipelineOptions = {}): Promise<unknown> {
  if (!Object.hasOwn(kinds, task)) {
    throw new WasmformerError('pipeline', `there is no task '${String(task)}'; there are '${Object.keys(kinds).join("', '")}'`);
  }
  const given = checked<PipelineOptions>('pipeline', pipelineRules, withNewNames('pipeline', { hub: 'hubURL' }, options));
  checkWorker('pipeline', given);
  const { progress_callback, device, dtype = 'auto', threads, shareWith, workerURL, wasmURL, hubURL, integrity, signal } = given;
  warnOf(ignoredOptions, given);
  if (device !== undefined && !['wasm', 'cpu', 'auto'].includes(device)) warn(`device is '${device}', but the CPU is used`);
  const model = withWeights(source);
  const file = typeof model === 'string' || model instanceof URL ? String(model) : 'the given bytes';
  const report = (progress: Omit<PipelineProgress, 'task' | 'file'>) => progress_callback?.({ task, file, ...progress });
  report({ status: 'initiate' });
  const kind: { load(model: ModelSource, options: LoadOptions): Promise<Translator | Classifier | Tagger> } = kinds[task];
  const loaded = await kind.load(model, {
    threads, shareWith, workerURL, wasmURL, hubURL, integrity, signal, precision: precisions[dtype] ?? 'int8',
    onProgress: (loaded, total) =>
      report({ status: 'progress', loaded, ...(total && { total, progress: (100 * loaded) / total }) }),
  });
  const { precision } = loaded.info;
  if (dtype !== 'auto' && precisions[dtype] !== precision) warn(`dtype is '${dtype}', but the model is stored as ${precision}`);
  try {
    report({ status: 'done' });
    report({ status: 'ready' });
  } catch (error) {
    loaded.dispose();
    throw error;
  }
  const shared = { task, dispose: async () => loaded.dispose() };
  if (loaded instanceof Classifier) return Object.assign(classification(loaded), shared, { classifier: loaded });
  if (loaded instanceof Tagger) return Object.assign(tagging(loaded), shared, { tagger: loaded });
  const key = task === 'translation' ? 'translation_text' : 'generated_text';
  const call = async (texts: string | readonly string[], wanted: GenerationOptions = {}) =>
    (await translate(loaded, texts, wanted)).flatMap((translation) =>
      [translation, ...translation.alternatives].map(({ text }) => ({
        [key]: text,
        ...(translation.attention && { attention: translation.attention }),
      })),
    );
  return Object.assign(call, shared, { translator: loaded, tokenizer: undefined });
}

function classification(classifier: Classifier) {
  return async (texts: string | readonly string[], options: ClassificationOptions = {}) => {
    const { top_k = 1, signal } = checked<ClassificationOptions>('pipeline', classificationRules, options);
    const found = await classifier.classify([texts].flat(), { topLabels: top_k ?? 0, signal });
    const all = found.map(({ labels }, i) => {
      if (labels.length === 0) throw new WasmformerError('pipeline', `text ${i + 1} is empty, so it has no label`);
      return labels.map(({ label, probability }): LabelOutput => ({ label, score: probability }));
    });
    return top_k === 1 || typeof texts === 'string' ? all.flat() : all;
  };
}

function tagging(tagger: Tagger) {
  const part = ({ probability, text, start, end }: TaggedToken | TaggedSpan) => ({ score: probability, word: text, start, end });
  return async (texts: string | readonly string[], options: TaggingOptions = {}) => {
    const given = checked<TaggingOptions>('pipeline', taggingRules, options);
    const { aggregation_strategy, ignore_labels = ['O'], signal } = given;
    const isSimple = aggregation_strategy === 'simple';
    if (isSimple && given.ignore_labels) {
      throw new WasmformerError('pipeline', "ignore_labels applies to single words, but aggregation_strategy is 'simple'");
    }
    if (isSimple && !tagger.info.tags.every((tag) => /^(O$|[BI]-)/.test(tag))) {
      throw new WasmformerError('pipeline', "aggregation_strategy is 'simple', but the model's tags are not spans (O, B-…, I-…)");
    }
    const all = (await tagger.tag([texts].flat(), { signal })).map(({ tokens, spans }) => {
      if (isSimple) return spans.map((span): EntityOutput => ({ entity_group: span.type, ...part(span) }));
      const words = tokens.map((token, i): EntityOutput => ({ entity: token.tag, index: i + 1, ...part(token) }));
      return words.filter(({ entity }) => !ignore_labels.includes(entity!));
    });
    return typeof texts === 'string' ? all[0]! : all;
  };
}

const precisions: Record<string, 'f32' | 'f16' | 'int8'> = { fp32: 'f32', fp16: 'f16', int8: 'int8', q8: 'int8' };

async function translate(
  translator: Translator,
  texts: string | readonly string[],
  options: GenerationOptions,
): Promise<Translation[]> {
  const { max_length, streamer, ...given } = checked<GenerationOptions>('pipeline', generationRules, options);
  warnOf(ignoredGeneration, given);
  if (given.max_new_tokens && max_length) throw new WasmformerError('pipeline', 'max_new_tokens and max_length are both given');
  if ((given.num_return_sequences ?? 1) > 1 && given.output_attentions) {
    throw new WasmformerError('pipeline', 'output_attentions works for one output only, but num_return_sequences is more');
  }
  const sampling = renamed(otherSamplingNames, given);
  for (const name of Object.keys(otherSamplingNames).filter((name) => name in given && !given.do_sample)) {
    warn(`${name} has no effect without do_sample`);
  }
  checkLanguages(given, translator.info.languages);
  if (streamer && given.callback_function) throw new WasmformerError('pipeline', 'streamer and callback_function are both given');
  if (streamer && (given.num_beams ?? 1) > 1) warn('num_beams is 1 with a streamer, since beam search revises its text');
  const streamed = streamer && streaming(streamer, texts);
  const translated = {
    ...(max_length !== undefined && { maxLength: max_length - 1 }),
    ...renamed(otherNames, given),
    sampling: given.do_sample ? { topK: 50, ...sampling } : undefined,
    signal: given.signal,
    ...streamed?.options,
  };
  // TypeScript cannot tell one text from several here.
  const all: unknown = await translator.translate(texts as string, translated as TranslateOptions);
  const translations = Array.isArray(all) ? (all as Translation[]) : [all as Translation];
  streamed?.end(translations[0]!.text);
  return translations;
}

function renamed(names: Record<string, string>, options: object): object {
  const given = Object.entries(options).filter(([name]) => name in names);
  return Object.fromEntries(given.map(([name, value]) => [names[name], value]));
}

/** 'de' of 'de', 'deu' and 'deu_Latn'. */
function languageOf(code: string): string {
  try {
    return new Intl.Locale(code.replaceAll('_', '-')).language;
  } catch {
    return code;
  }
}

function checkLanguages({ src_lang, tgt_lang }: GenerationOptions, languages: string): void {
  const [source, target] = languages.split('-');
  for (const [name, wanted, found] of [['src_lang', src_lang, source], ['tgt_lang', tgt_lang, target]]) {
    if (wanted !== undefined && languageOf(wanted) !== languageOf(found ?? '')) {
      throw new WasmformerError('pipeline', `${name} is '${wanted}', but the model ${languages ? `translates ${languages}` : 'does not name its languages'}`);
    }
  }
}
