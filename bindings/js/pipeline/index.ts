// `wasmformer/pipeline`: pipeline('translation', model) and others as in Transformers.js.
import { checked, withNewNames } from '../shared/checks.js';
import { WasmformerError } from '../shared/errors.js';
import type { LoadOptions, ModelSource } from '../shared/types.js';
import { Classifier, Tagger } from '../api/encoders.js';
import { checkWorker } from '../api/arguments.js';
import { Translator } from '../api/translator.js';
import { classification, tagging } from './annotation.js';
import { ignoredOptions } from './ignored.js';
import { pipelineRules, precisions, warn, warnOf } from './options.js';
import { checkLanguages, translate } from './translation.js';
import type {
  ClassificationPipeline, GenerationOptions, GenerationOutput, Pipeline, PipelineOptions, PipelineProgress,
  PipelineTask, TaggingPipeline, TranslationOutput,
} from './types.js';

export { TextStreamer } from './streamer.js';
export type * from './types.js';

const kinds = {
  translation: Translator,
  'text2text-generation': Translator,
  'text-classification': Classifier,
  'token-classification': Tagger,
} satisfies Record<PipelineTask, unknown>;

/** Other names of tasks in Transformers.js. */
const otherTasks: Readonly<Record<string, PipelineTask>> = {
  ner: 'token-classification',
  'sentiment-analysis': 'text-classification',
};
/** 'translation' and the languages that the model must have. */
const namedTranslation = /^translation_([a-z]+)_to_([a-z]+)$/i;

function taskOf(name: string): PipelineTask {
  if (Object.hasOwn(otherTasks, name)) return otherTasks[name]!;
  const task = namedTranslation.test(name) ? 'translation' : name;
  if (Object.hasOwn(kinds, task)) return task as PipelineTask;
  const known = Object.keys(kinds).join("', '");
  throw new WasmformerError('pipeline', `there is no task '${name}'; there are '${known}'`);
}

interface Loader {
  load(model: ModelSource, options: LoadOptions): Promise<Translator | Classifier | Tagger>;
}

const onnxName = /^(?:Xenova|onnx-community)\/(opus-mt-[\w.-]+?)(?:-ONNX)?$/;
/** The weights from which the ONNX files were made. */
function withWeights(model: ModelSource): ModelSource {
  const name = typeof model === 'string' ? onnxName.exec(model)?.[1] : undefined;
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
  task: 'translation' | `translation_${string}_to_${string}`,
  model: ModelSource,
  options?: PipelineOptions,
): Promise<Pipeline<TranslationOutput>>;
export function pipeline(
  task: 'text2text-generation',
  model: ModelSource,
  options?: PipelineOptions,
): Promise<Pipeline<GenerationOutput>>;
export function pipeline(
  task: 'text-classification' | 'sentiment-analysis',
  model: ModelSource,
  options?: PipelineOptions,
): Promise<ClassificationPipeline>;
export function pipeline(
  task: 'token-classification' | 'ner',
  model: ModelSource,
  options?: PipelineOptions,
): Promise<TaggingPipeline>;
export async function pipeline(
  name: string,
  source: ModelSource,
  options: PipelineOptions = {},
): Promise<unknown> {
  const task = taskOf(String(name));
  const named = withNewNames('pipeline', { hub: 'hubURL' }, options);
  const given = checked<PipelineOptions>('pipeline', pipelineRules, named);
  checkWorker('pipeline', given);
  const { progress_callback, device, dtype = 'auto' } = given;
  const { threads, maximumMemory, shareWith, workerURL, wasmURL, hubURL, modelsURL, integrity, signal } = given;
  warnOf(ignoredOptions, given);
  if (device !== undefined && !['wasm', 'cpu', 'auto'].includes(device)) {
    warn(`device is '${device}', but the CPU is used`);
  }
  const model = withWeights(source);
  const file = typeof model === 'string' || model instanceof URL ? String(model) : 'the given bytes';
  const report = (progress: Omit<PipelineProgress, 'task' | 'file'>) =>
    progress_callback?.({ task, file, ...progress });
  report({ status: 'initiate' });
  const kind: Loader = kinds[task];
  const loaded = await kind.load(model, {
    threads, maximumMemory, shareWith, workerURL, wasmURL, hubURL, modelsURL, integrity, signal, precision: precisions[dtype] ?? 'int8',
    onProgress: (loaded, total) =>
      report({ status: 'progress', loaded, ...(total && { total, progress: (100 * loaded) / total }) }),
  });
  const { precision } = loaded.info;
  if (dtype !== 'auto' && precisions[dtype] !== precision) {
    warn(`dtype is '${dtype}', but the model is stored as ${precision}`);
  }
  try {
    const [, src_lang, tgt_lang] = namedTranslation.exec(name) ?? [];
    if (loaded instanceof Translator) checkLanguages({ src_lang, tgt_lang }, loaded.info.languages);
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
