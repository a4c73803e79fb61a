// The page's language, and numbers and words in it.
import { retell, type Reason, type Retelling } from './reason';
import reasonsInChinese from './reasons.zh.json?url';
import { language, type Locale } from './language';

class Speech {
  #locale = $state<Locale>('en');
  #inChinese = $state.raw<Retelling>({});
  #isAsked = false;

  get locale() {
    return this.#locale;
  }
  set locale(locale: Locale) {
    this.#locale = locale;
    if (locale !== 'zh' || this.#isAsked) return;
    this.#isAsked = true;
    const stayEnglish = () => void (this.#isAsked = false);
    fetch(reasonsInChinese).then(async (file) => (this.#inChinese = await file.json())).catch(stayEnglish);
  }

  retell = (reason: Reason) => (this.#locale === 'zh' ? retell(reason, this.#inChinese) : reason.text);
}

export const speech = new Speech();

export const { words, wordsOf, number, percent } = language(() => speech.locale, speech.retell);

export const decimals = (value: number, digits = 2) =>
  number(value, { maximumFractionDigits: digits, minimumFractionDigits: digits });

const UNITS = [
  ['second', 1, 90],
  ['minute', 60, 5400],
  ['hour', 3600, Infinity],
] as const;

/** '23 seconds', '9 minutes': an estimate has two digits at most. */
export function duration(seconds: number): string {
  const [unit, size] = UNITS.find(([, , end]) => seconds < end)!;
  const count = Math.max(1, Math.round(seconds / size));
  return number(count, {
    style: 'unit',
    unit,
    unitDisplay: speech.locale === 'zh' ? 'short' : 'long',
    maximumSignificantDigits: 2,
  });
}

export const list = (items: readonly string[]) => items.join(speech.locale === 'zh' ? '、' : ', ');

export function megabytes(bytes: number): string {
  return number(bytes / 1e6, { style: 'unit', unit: 'megabyte', maximumFractionDigits: 1, minimumFractionDigits: 1 });
}

export function languageName(code: string | undefined): string {
  if (!code) return '';
  try {
    return new Intl.DisplayNames([speech.locale], { type: 'language' }).of(code) ?? code;
  } catch {
    return code; // the file is not named after languages
  }
}

/** Text in a model file's metadata, in the page's language if available: 'limits.zh' rather than 'limits'. */
export const saidOf = (metadata: Readonly<Record<string, string>>, key: string) =>
  metadata[`${key}.${speech.locale}`] ?? metadata[key];

type Table = Readonly<Record<string, string>>;

/** Functions that load the words of the opened features in a language. */
const opened: ((locale: Locale) => Promise<void>)[] = [];

/**
 * Changes the page's language once every feature that was opened has its words in it; one whose words cannot be fetched
 * keeps the ones it has.
 */
export async function speak(locale: Locale) {
  await Promise.allSettled(opened.map((bring) => bring(locale)));
  speech.locale = locale;
}

/**
 * The words of a feature, which come in the page's language when its script runs: what shows them waits for `arrived`.
 * The words of the first screen are part of its script instead, since no text could be shown before they came.
 */
export function featureWords<Words extends Table>(tables: {
  en: () => Promise<{ default: Words }>;
  zh: () => Promise<{ default: Readonly<Record<keyof Words, string>> }>;
}) {
  const empty = {} as Readonly<Record<keyof Words & string, string>>;
  let here = $state.raw<Partial<Record<Locale, typeof empty>>>({});
  const table = () => here[speech.locale] ?? here.en ?? here.zh ?? empty;

  async function bring(locale: Locale) {
    if (here[locale]) return;
    const { default: words } = await tables[locale]();
    here = { ...here, [locale]: words };
  }

  opened.push(bring);
  return { words: wordsOf(table), table, arrived: bring(speech.locale) };
}
