// Loads a model that classifies, tags, or both; its file tells.
import { Classifier, Tagger, type LoadOptions, type ModelSource } from 'wasmformer';

/** A Classifier also tags, if it can. Of a file that is neither, the first refusal is thrown. */
export const loadEncoder = (source: ModelSource, options?: LoadOptions): Promise<Classifier | Tagger> =>
  Classifier.load(source, options).catch((first) => Tagger.load(source).catch(() => Promise.reject(first)));
