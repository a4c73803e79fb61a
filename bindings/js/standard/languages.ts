// Language tags (BCP 47): which of the available languages matches a tag best.

/**
 * The canonical form of a language tag, such as 'en-US' for 'EN-us'.
 * @throws TypeError if there is none, RangeError if it is no language tag
 */
export function canonicalTag(tag: unknown, name: string): string {
  if (tag === undefined) throw new TypeError(`${name} is missing`);
  return Intl.getCanonicalLocales(String(tag))[0]!;
}

const SAME_SCRIPT = 2;

/** How well a language matches another one: 0 if not at all, more than SAME_SCRIPT if both are written alike. */
function fit(available: string, wanted: string): number {
  if (available === wanted) return 4;
  const [own, other] = [available, wanted].map((tag) => new Intl.Locale(tag).maximize());
  if (own!.language !== other!.language) return 0;
  return 1 + SAME_SCRIPT * Number(own!.script === other!.script) + Number(own!.region === other!.region) / 2;
}

/** The best of `available` for a language, such as 'zh-Hant' for 'zh-TW'; undefined if none is of that language. */
export function bestFit(available: Iterable<string>, wanted: string): string | undefined {
  const ranked = Array.from(available, (tag) => ({ tag, rank: fit(tag, wanted) })).filter(({ rank }) => rank > 0);
  return ranked.sort((a, b) => b.rank - a.rank)[0]?.tag;
}

/** How well a pair of languages matches another pair: 0 if not at all. */
export function pairFit(
  source: string, target: string, wanted: { sourceLanguage: string; targetLanguage: string },
): number {
  return fit(source, wanted.sourceLanguage) * fit(target, wanted.targetLanguage);
}

/** Whether a text in one language is one in the other too: in 'en-GB' and 'en-US', but not in 'zh-Hans' and 'zh-Hant'. */
export const isSameLanguage = (first: string, second: string): boolean => fit(first, second) > SAME_SCRIPT;

/** Whether a text has only white space and control characters. */
export const hasNoWords = (text: string): boolean => !/[^\p{White_Space}\p{Cc}\p{Cf}]/u.test(text);
