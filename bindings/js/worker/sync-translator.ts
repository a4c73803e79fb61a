// A translator that blocks, with whole texts: a file of its own, since the worker's script need not split texts.
import { withoutPartial } from '../shared/checks.js';
import type { TextTranslation } from '../shared/types.js';
import { sourcesOf, translatedText, wholeText } from '../shared/whole-text.js';
import { WorkerTranslator, type SyncOptions } from './worker-translator.js';

export type SyncTextOptions = Omit<SyncOptions<string>, 'onPartial' | 'onToken'>;

/**
 * A Translator without a worker: its methods block until they are done. It has no stream(), streamText() and
 * translateAll(), and no options `signal`, `alignment`, `quality` and `html`.
 */
export class SyncTranslator extends WorkerTranslator {
  /**
   * Like Translator.translateText, without the option signal: translates a text of any number of sentences.
   * @throws as translate does
   */
  translateText(text: string, options: SyncTextOptions = {}): TextTranslation {
    const whole = wholeText(text, this.info);
    const search = withoutPartial('translateText', options, 'translate() reports the texts so far');
    return translatedText(whole, this.translate(sourcesOf(whole), search as SyncOptions<string[]>));
  }
}
