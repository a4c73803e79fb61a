// Models without a decoder, in a worker: a Classifier says what a text is, a Tagger what its words are.
import type { Classification, EncoderInfo, LoadOptions, ModelSource, Tagging } from '../shared/types.js';
import { load, RemoteModel } from './translator.js';

/**
 * Finds the label of a text with one model, in a worker.
 * @example
 * const classifier = await Classifier.load('encoders/snips.safetensors');
 * const { labels } = await classifier.classify('play some jazz', { topLabels: 1 });
 */
export class Classifier extends RemoteModel<EncoderInfo> {
  /**
   * The labels of one text or several, together. A text longer than the model's max_length is cut.
   * @throws when an option is unknown or impossible
   */
  readonly classify = this.annotator<Classification>('classify');

  /**
   * Loads a model file as Translator.load does.
   * @throws as Translator.load, and when the model has no labels of whole texts
   */
  static async load(model: ModelSource, options: LoadOptions = {}): Promise<Classifier> {
    return load('classify', model, options, new Error(), (...made) => new Classifier(...made));
  }
}

/**
 * Tags the words of a text with one model, in a worker.
 * @example
 * const tagger = await Tagger.load('encoders/snips.safetensors');
 * const { spans } = await tagger.tag('play some jazz in the kitchen');
 */
export class Tagger extends RemoteModel<EncoderInfo> {
  /**
   * A tag for each word of one text or several, which may have any length.
   * @throws when an option is unknown or impossible
   */
  readonly tag = this.annotator<Tagging>('tag');

  /**
   * Loads a model file as Translator.load does.
   * @throws as Translator.load, and when the model has no tags
   */
  static async load(model: ModelSource, options: LoadOptions = {}): Promise<Tagger> {
    return load('tag', model, options, new Error(), (...made) => new Tagger(...made));
  }
}
