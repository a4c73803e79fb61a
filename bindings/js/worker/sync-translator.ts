// A translator that blocks.
import type { Translator } from '../generated/module.js';
import { version } from '../generated/version.js';
import { checkTranslate } from '../shared/checks.js';
import { WasmformerError } from '../shared/errors.js';
import { withKeptRanges } from '../shared/keep.js';
import { dispose } from '../shared/platform.js';
import { tidy, withMaps } from '../shared/results.js';
import type { TranslateOptions, Translation, TranslatorInfo } from '../shared/types.js';
import { Model } from './inference.js';
import type { Instance } from './instance.js';

/** Only a Translator can be aborted or compute `alignment` and `quality`. */
export type SyncOptions<Text> = Omit<TranslateOptions<Text>, 'signal' | 'alignment' | 'quality'>;

/** A Translator without a worker: translate() blocks until it is done. */
export class SyncTranslator extends Model<Translator> {
  readonly info: TranslatorInfo;
  /** @internal Called by dispose(). */
  onDispose = () => {};

  /** @internal */
  constructor(instance: Instance, native: Translator, bytes: number) {
    super(instance, native);
    const info = instance.call(() => native.info());
    tidy(info);
    const precision = info.precision as TranslatorInfo['precision'];
    this.info = { ...info, precision, bytes, version, build: instance.build, threads: instance.threads };
  }

  /**
   * Like Translator.translate, but without the option signal, since nothing could abort it meanwhile.
   * @throws when an option is unknown or impossible, or a text is longer than the model allows
   */
  translate(text: string, options?: SyncOptions<string>): Translation;
  translate(text: readonly string[], options?: SyncOptions<string[]>): Translation[];
  translate(text: string | readonly string[], options: object = {}): Translation | Translation[] {
    if ('signal' in options) throw new WasmformerError('translate', 'signal cannot abort a call that blocks; use a Translator');
    const { texts, search, onPartial } = checkTranslate(text, withKeptRanges(text, options));
    const isOne = typeof text === 'string';
    const steps = this.steps(texts, search, onPartial !== undefined);
    try {
      let step = steps.next();
      for (; !step.done; step = steps.next()) if (step.value) onPartial?.(isOne ? step.value[0]! : step.value);
      tidy(step.value);
      const translations = withMaps<Translation>(step.value);
      return isOne ? translations[0]! : translations;
    } finally {
      steps.return([]);
    }
  }

  override dispose(): void {
    super.dispose();
    this.onDispose();
  }

  [dispose](): void {
    this.dispose();
  }
}
