// `wasmformer/convert`: reads models of other programs, and writes models for them.
import { callback, checked, oneOf, signal, string, type Rules } from '../shared/checks.js';
import { WasmformerTypeError } from '../shared/errors.js';
import type { Conversion, ModelData, Update } from '../shared/protocol.js';
import type { FileOptions, ListedModel, ListSource, ModelSource } from '../shared/types.js';
import { Connection, type CallOptions } from '../api/connection.js';
import { checkFiles, fileData, fileRules, isModelName, modelData } from '../api/arguments.js';

/**
 * A folder: the address of its files, or the name of a model of Hugging Face; a path, in Node; files that were dropped
 * or chosen; sources of files by their names; or a model of a list.
 */
export type FolderSource = string | URL | Iterable<File> | Readonly<Record<string, ModelSource>> | ListSource;

/** Files by their names. */
export type FolderFiles = Record<string, Blob>;

export interface ImportOptions extends FileOptions {
  /** Precision of the model file. Default 'f32'; 'int8' is a quarter of the size, for translation only. */
  precision?: 'f32' | 'f16' | 'int8' | undefined;
  /** SOURCE-TARGET such as 'de-en', instead of what the folder says. */
  languages?: string | undefined;
  /** Called with the bytes received, of all files together; `total` is missing if it is unknown. */
  onProgress?: ((loaded: number, total?: number) => void) | undefined;
  signal?: AbortSignal | undefined;
}

export interface ExportOptions extends FileOptions {
  /** Default 'f32'. */
  precision?: 'f32' | 'f16' | undefined;
  signal?: AbortSignal | undefined;
}

const importRules: Rules<ImportOptions> = {
  ...fileRules,
  precision: oneOf('f32', 'f16', 'int8'),
  languages: string,
  onProgress: callback,
  signal,
};
const onnxRules: Rules<Omit<ExportOptions, 'precision'>> = { ...fileRules, signal };
const exportRules: Rules<ExportOptions> = { ...onnxRules, precision: oneOf('f32', 'f16') };

/**
 * The model file of a MarianMT folder of Hugging Face (config.json, model.safetensors or pytorch_model.bin, source.spm,
 * target.spm, vocab.json), of a folder of Marian itself (decoder.yml, .npz, vocabularies), or of a student of Firefox
 * (.bin, vocab*.spm; metadata.json). Files may be packed as .gz or .zst. 75 million parameters take about 0.6 GB.
 * @throws when a file is missing or damaged, or the model is not a Transformer of this kind
 */
export async function importMarian(folder: FolderSource, options: ImportOptions = {}): Promise<Blob> {
  const site = new Error();
  const given = checked<ImportOptions>('import', importRules, options);
  const { precision = 'f32', languages = '', onProgress, ...rest } = given;
  const onUpdate = (update: Update) => update.type === 'progress' && onProgress?.(update.loaded, update.total);
  const wanted: Conversion = { to: 'model', from: folderData(folder), precision, languages };
  const files = await convert(wanted, site, { ...rest, onUpdate });
  return files['model.safetensors']!;
}

/**
 * The model file made from a Hugging Face folder of BERT or DistilBERT for classifying texts or tagging words
 * (config.json, vocab.txt, model.safetensors or pytorch_model.bin, tokenizer_config.json), for Classifier and Tagger.
 * @throws when a file is missing or damaged, or the model is of another kind
 */
export function importBert(folder: FolderSource, options: Omit<ImportOptions, 'languages'> = {}): Promise<Blob> {
  return importMarian(folder, options);
}

/**
 * The files that Hugging Face's MarianMTModel and MarianTokenizer open.
 * @throws when MarianMT cannot express this model, naming the setting
 */
export function exportMarian(model: ModelSource, options: ExportOptions = {}): Promise<FolderFiles> {
  const site = new Error();
  const { precision = 'f32', ...rest } = checked<ExportOptions>('export', exportRules, options);
  return convert({ to: 'marian', from: { model: modelData(model) }, precision, languages: '' }, site, rest);
}

/**
 * The model as ONNX graphs, with the files of its tokenizers: an encoder and a decoder with cache for a translator, or
 * one graph that returns label scores for a classifier or tagger. Files are named as in Hugging Face's Optimum.
 * @throws when a graph would exceed 2 GiB
 * @example
 * const files = await exportOnnx('models/de-en.safetensors');
 * for (const [name, blob] of Object.entries(files)) await writeFile(name, blob.stream());
 */
export function exportOnnx(model: ModelSource, options: Omit<ExportOptions, 'precision'> = {}): Promise<FolderFiles> {
  const site = new Error();
  const rest = checked<Omit<ExportOptions, 'precision'>>('export', onnxRules, options);
  return convert({ to: 'onnx', from: { model: modelData(model) }, precision: 'f32', languages: '' }, site, rest);
}

/**
 * The models that `Translator.load({ list, from, to, architecture })` can load, by languages, and the best of each pair
 * first.
 * @throws when the list cannot be read, or has no models
 */
export async function listModels(
  list: ListSource['list'],
  options: Omit<ExportOptions, 'precision'> = {},
): Promise<ListedModel[]> {
  const { signal, ...files } = checked<Omit<ExportOptions, 'precision'>>('models', onnxRules, options);
  return Connection.once('list', fileData(list), new Error(), { signal }, checkFiles(files));
}

function folderData(folder: FolderSource): ModelData | Record<string, ModelData> {
  if (isModelName(folder)) return fileData(folder); // models by name are files
  if (typeof folder === 'string' || folder instanceof URL) return modelData(folder);
  if (typeof folder !== 'object' || folder === null) {
    const message = `the folder must be a URL, a path, files, or sources by their names, not ${folder}`;
    throw new WasmformerTypeError('import', message);
  }
  if ('list' in folder && 'from' in folder) return modelData(folder);
  const entries = Symbol.iterator in folder
    ? Array.from(folder, (file) => [file.name, file] as const)
    : Object.entries(folder);
  return Object.fromEntries(entries.map(([name, source]) => [name, modelData(source)]));
}

async function convert(
  wanted: Conversion,
  site: Error,
  { workerURL, wasmURL, ...options }: FileOptions & CallOptions,
): Promise<FolderFiles> {
  return Connection.once('convert', wanted, site, options, checkFiles({ workerURL, wasmURL }));
}
