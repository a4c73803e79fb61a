// The page's models that classify, tag, or both, and how such a model is loaded: its file tells what it does.
import bundled from 'virtual:encoders';
import { Classifier, Tagger, WasmformerError, type LoadOptions, type ModelSource } from 'wasmformer';

export const ownEncoders = bundled.map((model) => ({ ...model, url: new URL(model.url, document.baseURI).href }));

/** A Classifier also tags, if it can. */
export const loadEncoder = (source: ModelSource, options?: LoadOptions): Promise<Classifier | Tagger> =>
  Classifier.load(source, options).catch((error) =>
    (isTaggerOnly(error) ? Tagger.load(source, options) : Promise.reject(error)));

const isTaggerOnly = (error: unknown) =>
  error instanceof WasmformerError && error.code === 'wrong-task' && error.details.purpose === 'tags';
