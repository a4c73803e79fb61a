// Pipelines that translate.
import { checked, otherNames, otherSamplingNames } from '../shared/checks.js';
import { WasmformerError, WasmformerRangeError } from '../shared/errors.js';
import type { Translation, TranslateOptions } from '../shared/types.js';
import type { Translator } from '../api/translator.js';
import { ignoredGeneration } from './ignored.js';
import { generationRules, warn, warnOf, withoutNull } from './options.js';
import { streaming } from './streamer.js';
import type { GenerationOptions } from './types.js';

export async function translate(
  translator: Translator,
  texts: string | readonly string[],
  options: GenerationOptions,
): Promise<Translation[]> {
  const { max_length, streamer, ...given } =
    checked<GenerationOptions>('pipeline', generationRules, withoutNull(options));
  warnOf(ignoredGeneration, given);
  if (given.max_new_tokens !== undefined && max_length !== undefined) {
    throw new WasmformerError('pipeline', 'max_new_tokens and max_length are both given');
  }
  checkLeast('max_new_tokens', given.max_new_tokens, 1);
  checkLeast('max_length', max_length, 2); // it counts the begin token, which maxLength does not
  if ((given.num_return_sequences ?? 1) > 1 && given.output_attentions) {
    const message = 'output_attentions works for one output only, but num_return_sequences is more';
    throw new WasmformerError('pipeline', message);
  }
  const sampling = renamed(otherSamplingNames, given);
  for (const name of Object.keys(otherSamplingNames).filter((name) => name in given && !given.do_sample)) {
    warn(`${name} has no effect without do_sample`);
  }
  checkLanguages(given, translator.info.languages);
  if (streamer && given.callback_function) {
    throw new WasmformerError('pipeline', 'streamer and callback_function are both given');
  }
  if (streamer && (given.num_beams ?? 1) > 1) {
    warn('num_beams is 1 with a streamer, since beam search revises its text');
  }
  const streamed = streamer && streaming(streamer, texts);
  const translated = {
    ...(max_length !== undefined && { maxLength: max_length - 1 }),
    ...renamed(otherNames, given),
    sampling: given.do_sample ? { topK: 50, ...sampling } : undefined,
    signal: given.signal,
    ...streamed?.options,
  };
  // TypeScript cannot tell one text from several here.
  const all: unknown = await translator.translate(texts as string, translated as TranslateOptions);
  const translations = Array.isArray(all) ? (all as Translation[]) : [all as Translation];
  streamed?.end(translations[0]!.text);
  return translations;
}

/** A maxLength of 0 would let the model choose. */
function checkLeast(name: string, value: number | undefined, least: number): void {
  if (value === undefined || value >= least) return;
  throw new WasmformerRangeError('pipeline', `${name} is ${value}, but the least is ${least}`);
}

function renamed(names: Record<string, string>, options: object): object {
  const given = Object.entries(options).filter(([name]) => name in names);
  return Object.fromEntries(given.map(([name, value]) => [names[name], value]));
}

/** 'de' of 'de', 'deu' and 'deu_Latn'. */
function languageOf(code: string): string {
  try {
    return new Intl.Locale(code.replaceAll('_', '-')).language;
  } catch {
    return code;
  }
}

/** @throws if the model translates other languages, or does not name its own */
export function checkLanguages({ src_lang, tgt_lang }: GenerationOptions, languages: string): void {
  const [source, target] = languages.split('-');
  for (const [name, wanted, found] of [['src_lang', src_lang, source], ['tgt_lang', tgt_lang, target]]) {
    if (wanted !== undefined && languageOf(wanted) !== languageOf(found ?? '')) {
      const does = languages ? `translates ${languages}` : 'does not name its languages';
      throw new WasmformerError('pipeline', `${name} is '${wanted}', but the model ${does}`);
    }
  }
}
