// Translators that are made of others.
import { takeHtml, withoutPartial } from '../shared/checks.js';
import type { TextTranslation } from '../shared/types.js';
import type {
  AlignmentOptions, HtmlTranslation, SentenceCall, SentenceTranslation, SentenceTranslator,
} from '../shared/webpage-types.js';
import { sourcesOf, translatedText, wholeText } from '../shared/whole-text.js';

/** Any option of translate() about the search; `signal` aborts. */
export type SentenceOptions = AlignmentOptions & { signal?: AbortSignal | undefined; [option: string]: unknown };

/** A SentenceTranslator made of others, which still belong to the caller. */
export interface Composed<Found extends SentenceTranslation> {
  readonly info: SentenceTranslator['info'] & { readonly languages: string };
  translate: SentenceCall<SentenceOptions, Found>;
  /**
   * Translates a text of any number of sentences, as Translator.translateText does.
   * @throws as translate does
   */
  translateText(text: string, options?: SentenceOptions): Promise<TextTranslation<Found>>;
}

/** A translator whose translate() is `translateAll`, with HTML on top. */
export function composed<Found extends SentenceTranslation>(
  languages: string, parts: SentenceTranslator[],
  translateAll: (texts: readonly string[], options: SentenceOptions) => Promise<Found[]>,
): Composed<Found> {
  const max_length = Math.min(...parts.map(({ info }) => info.config?.max_length ?? Infinity));
  const made = {
    info: { languages, ...(max_length < Infinity && { config: { max_length } }) },
    async translate(
      text: string | readonly string[],
      options: object = {},
    ): Promise<Found | Found[] | HtmlTranslation> {
      const { html, rest } = takeHtml(options);
      if (html) return (await import('./html.js')).translateHtml(text, made as SentenceTranslator, rest);
      const found = await translateAll([text].flat(), rest as SentenceOptions);
      return typeof text === 'string' ? found[0]! : found;
    },
    async translateText(text: string, options: SentenceOptions = {}): Promise<TextTranslation<Found>> {
      const whole = wholeText(text, made.info);
      return translatedText(whole, await translateAll(sourcesOf(whole), withoutPartial('translateText', options)));
    },
  };
  return made as Composed<Found>;
}
