// The shape of Transformers.js for what this library does: pipeline('translation', model).
import {
  boolean, callback, checked, isObject, oneOf, samplingRules, signal, string, translateRules, whole, type Rules,
} from '../shared/options.js';
import type { Attention, ModelSource, Translation, TranslateOptions, WorkerOptions } from '../shared/types.js';
import { checkWorker, workerRules } from './options.js';
import { Translator } from './translator.js';

export type PipelineTask = 'translation' | 'text2text-generation';

/** What progress_callback hears; `progress` is in percent, where the size is known. */
export interface PipelineProgress {
  status: 'initiate' | 'progress' | 'done' | 'ready';
  task: PipelineTask;
  file: string;
  loaded?: number;
  total?: number;
  progress?: number;
}

export interface PipelineOptions extends WorkerOptions {
  progress_callback?: (progress: PipelineProgress) => void;
  /** The processor, by WebAssembly: nothing else is there. */
  device?: 'wasm' | 'cpu' | 'auto';
  /** Must be how the file stores its numbers, since nothing converts them on the way. */
  dtype?: 'auto' | 'fp32' | 'fp16' | 'int8' | 'q8';
  signal?: AbortSignal;
}

export interface GenerationOptions {
  /** Default 4, and 1 with do_sample. */
  num_beams?: number;
  /** At most num_beams. Default 1. */
  num_return_sequences?: number;
  /** Tokens, the end token counted. */
  max_new_tokens?: number;
  /** The same with the start token. */
  max_length?: number;
  do_sample?: boolean;
  /** These need do_sample; the defaults are those of Transformers.js. */
  temperature?: number;
  top_k?: number;
  top_p?: number;
  seed?: number;
  /** Checked against what the model says of itself. */
  src_lang?: string;
  tgt_lang?: string;
  /** Adds `attention` to each output, as Translation has it, where there is one a text. */
  output_attentions?: boolean;
  /** Hears the best text so far after each step; of several inputs, all of them. */
  callback_function?: (partial: string | string[]) => void;
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

/** Call it with one text or several; num_return_sequences outputs for each stand in a row. */
export interface Pipeline<Output> {
  (texts: string | readonly string[], options?: GenerationOptions): Promise<Output[]>;
  readonly task: PipelineTask;
  readonly translator: Translator;
  dispose(): Promise<void>;
}

const pipelineRules: Rules<PipelineOptions> = {
  ...workerRules,
  progress_callback: callback,
  device: oneOf('wasm', 'cpu', 'auto'),
  dtype: oneOf('auto', 'fp32', 'fp16', 'int8', 'q8'),
  signal,
};
const samplingNames = ['temperature', 'top_k', 'top_p', 'seed'] as const;
const generationRules: Rules<GenerationOptions> = {
  num_beams: translateRules.beamSize,
  num_return_sequences: translateRules.nBest,
  max_new_tokens: translateRules.maxLength,
  max_length: whole(2),
  do_sample: boolean,
  temperature: samplingRules.temperature,
  top_k: samplingRules.topK,
  top_p: samplingRules.topP,
  seed: samplingRules.seed,
  src_lang: string,
  tgt_lang: string,
  output_attentions: boolean,
  callback_function: callback,
  signal,
};

/**
 * @param model any source that Translator.load takes
 * @throws for another task, an option that is not known or not possible, and as Translator.load does
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
export async function pipeline(
  task: PipelineTask,
  model: ModelSource,
  options: PipelineOptions = {},
): Promise<Pipeline<TranslationOutput> | Pipeline<GenerationOutput>> {
  if (task !== 'translation' && task !== 'text2text-generation') {
    throw new Error(`[pipeline] there is no task '${String(task)}'; there are 'translation' and 'text2text-generation'`);
  }
  const given = checked<PipelineOptions>('pipeline', pipelineRules, options);
  checkWorker('pipeline', given);
  const { progress_callback, device: _, dtype, ...rest } = given;
  const file = typeof model === 'string' || model instanceof URL ? String(model) : 'the given bytes';
  const report = (progress: Omit<PipelineProgress, 'task' | 'file'>) => progress_callback?.({ task, file, ...progress });
  report({ status: 'initiate' });
  const translator = await Translator.load(model, {
    ...rest,
    onProgress: (loaded, total) =>
      report({ status: 'progress', loaded, ...(total && { total, progress: (100 * loaded) / total }) }),
  });
  try {
    checkPrecision(dtype, translator.info.precision);
    report({ status: 'done' });
    report({ status: 'ready' });
  } catch (error) {
    translator.dispose();
    throw error;
  }
  const key = task === 'translation' ? 'translation_text' : 'generated_text';
  const call = async (texts: string | readonly string[], wanted: GenerationOptions = {}) => {
    const all = (await translate(translator, texts, wanted)).flatMap((translation) =>
      [translation, ...translation.alternatives].map(({ text }) => ({
        [key]: text,
        ...(translation.attention && { attention: translation.attention }),
      })),
    );
    return all as unknown as TranslationOutput[] & GenerationOutput[];
  };
  return Object.assign(call, { task, translator, dispose: async () => translator.dispose() });
}

function checkPrecision(wanted: PipelineOptions['dtype'] = 'auto', found: string): void {
  const known = { auto: found, fp32: 'f32', fp16: 'f16', int8: 'int8', q8: 'int8' }[wanted];
  if (known !== found) throw new Error(`[pipeline] dtype is '${wanted}', but the model's numbers are ${found}`);
}

async function translate(
  translator: Translator,
  texts: string | readonly string[],
  options: GenerationOptions,
): Promise<Translation[]> {
  if (isObject(options) && 'length_penalty' in options) {
    throw new Error('[pipeline] length_penalty is another formula here; Translator.translate has its own lengthPenalty');
  }
  const given = checked<GenerationOptions>('pipeline', generationRules, options);
  const { num_beams, num_return_sequences = 1, max_new_tokens, max_length, do_sample, ...rest } = given;
  if (max_new_tokens && max_length) throw new Error('[pipeline] max_new_tokens and max_length are both given');
  const most = do_sample ? 1 : (num_beams ?? 4);
  if (do_sample && (num_beams ?? 1) > 1) throw new Error(`[pipeline] do_sample is true, but num_beams is ${num_beams}`);
  if (num_return_sequences > most) {
    throw new Error(`[pipeline] num_return_sequences is ${num_return_sequences}, but there are ${most} beams`);
  }
  if (num_return_sequences > 1 && rest.output_attentions) {
    throw new Error('[pipeline] output_attentions is of one output, but num_return_sequences is more');
  }
  for (const name of samplingNames) {
    if (name in rest && !do_sample) throw new Error(`[pipeline] ${name} is given, but without do_sample nothing is drawn`);
  }
  checkLanguages(rest, translator.info.languages);
  const { temperature, top_k: topK = 50, top_p: topP, seed } = rest;
  const translated: TranslateOptions<string> & TranslateOptions<string[]> = {
    beamSize: do_sample ? undefined : num_beams,
    nBest: num_return_sequences,
    maxLength: max_new_tokens ?? (max_length && max_length - 1),
    sampling: do_sample ? { temperature, topK, topP, seed } : undefined,
    attention: rest.output_attentions,
    onToken: rest.callback_function,
    signal: rest.signal,
  };
  if (typeof texts === 'string') return [await translator.translate(texts, translated)];
  return translator.translate(texts, translated);
}

function checkLanguages({ src_lang, tgt_lang }: GenerationOptions, languages: string): void {
  const [source, target] = languages.split('-');
  for (const [name, wanted, found] of [['src_lang', src_lang, source], ['tgt_lang', tgt_lang, target]]) {
    if (wanted !== undefined && wanted !== found) {
      throw new Error(`[pipeline] ${name} is '${wanted}', but the model translates ${languages || 'what it does not say'}`);
    }
  }
}
