// `wasmformer/pipeline`: pipeline('translation', model) as in Transformers.js.
import {
  callback, checked, isObject, oneOf, signal, type Rule, type Rules,
} from '../shared/options.js';
import type { Attention, ModelSource, Translation, TranslateOptions, WorkerOptions } from '../shared/types.js';
import { checkWorker, workerRules } from './options.js';
import { Translator } from './translator.js';

export type PipelineTask = 'translation' | 'text2text-generation';

/** What progress_callback gets; `progress` is in percent, if the size is known. */
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
  /** Always the CPU, by WebAssembly. */
  device?: 'wasm' | 'cpu' | 'auto';
  /** Must be how the file stores its numbers, since they are not converted. */
  dtype?: 'auto' | 'fp32' | 'fp16' | 'int8' | 'q8';
  signal?: AbortSignal;
}

export interface GenerationOptions {
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
  /** Must be the languages of the model. */
  src_lang?: string;
  tgt_lang?: string;
  /** Adds `attention` to each output, as in Translation; only with one output per text. */
  output_attentions?: boolean;
  /** Gets the best text so far after each step; for several inputs, all of them. */
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

/** Call it with one text or several; each has num_return_sequences outputs, one after the other. */
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
// What the options are called in Translator.translate, which checks their values.
const names = {
  num_beams: 'beamSize',
  num_return_sequences: 'nBest',
  max_new_tokens: 'maxLength',
  output_attentions: 'attention',
  callback_function: 'onToken',
  signal: 'signal',
} as const;
const samplingNames = { temperature: 'temperature', top_k: 'topK', top_p: 'topP', seed: 'seed' } as const;
const anything: Rule = { accepts: () => true, expected: 'any value' };
const generationRules = Object.fromEntries(
  [...Object.keys({ ...names, ...samplingNames }), 'max_length', 'do_sample', 'src_lang', 'tgt_lang']
    .map((name) => [name, anything]),
) as Rules<GenerationOptions>;

/**
 * @param model any source that Translator.load takes
 * @throws for another task, an unknown or impossible option, and as Translator.load does
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
  const { max_length, ...given } = checked<GenerationOptions>('pipeline', generationRules, options);
  if (given.max_new_tokens && max_length) throw new Error('[pipeline] max_new_tokens and max_length are both given');
  if ((given.num_return_sequences ?? 1) > 1 && given.output_attentions) {
    throw new Error('[pipeline] output_attentions is of one output, but num_return_sequences is more');
  }
  const sampling = renamed(samplingNames, given);
  const [drawn] = Object.keys(samplingNames).filter((name) => name in given);
  if (drawn && !given.do_sample) throw new Error(`[pipeline] ${drawn} is given, but nothing is drawn without do_sample`);
  checkLanguages(given, translator.info.languages);
  const translated = {
    ...(max_length !== undefined && { maxLength: max_length - 1 }),
    ...(given.do_sample && { sampling: { topK: 50, ...sampling } }),
    ...renamed(names, given),
  };
  try {
    // TypeScript cannot tell one text from several here.
    const all: unknown = await translator.translate(texts as string, translated as TranslateOptions);
    return Array.isArray(all) ? all : [all as Translation];
  } catch (error) {
    throw error instanceof Error && error.message.startsWith('[translate]') ? withNamesOfPipeline(error) : error;
  }
}

function renamed(names: Record<string, string>, options: object): object {
  const given = Object.entries(options).filter(([name]) => name in names);
  return Object.fromEntries(given.map(([name, value]) => [names[name], value]));
}

function withNamesOfPipeline(error: Error): Error {
  const all = Object.entries({ ...names, ...samplingNames, do_sample: 'sampling' });
  error.message = error.message.replace('[translate]', '[pipeline]').replaceAll('sampling.', '').replace(
    /\w+/g, (word) => all.find(([, name]) => name === word)?.[0] ?? word,
  );
  return error;
}

function checkLanguages({ src_lang, tgt_lang }: GenerationOptions, languages: string): void {
  const [source, target] = languages.split('-');
  for (const [name, wanted, found] of [['src_lang', src_lang, source], ['tgt_lang', tgt_lang, target]]) {
    if (wanted !== undefined && wanted !== found) {
      throw new Error(`[pipeline] ${name} is '${wanted}', but the model translates ${languages || 'what it does not say'}`);
    }
  }
}
