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

/** A part of the page makes its own `t` from its own tables, so that these load with it. */
export const { words, number, percent } = language(() => speech.locale, speech.retell);

export const decimals =
  (value: number, digits = 2) => number(value, { maximumFractionDigits: digits, minimumFractionDigits: digits });

const UNITS = [['second', 1, 90], ['minute', 60, 5400], ['hour', 3600, Infinity]] as const;

/** '23 seconds', '9 minutes': an estimate has two digits at most. */
export function duration(seconds: number): string {
  const [unit, size] = UNITS.find(([, , end]) => seconds < end)!;
  const count = Math.max(1, Math.round(seconds / size));
  return number(count, { style: 'unit', unit, unitDisplay: speech.locale === 'zh' ? 'short' : 'long', maximumSignificantDigits: 2 });
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

/** What a model file says of itself, in the page's language where it does: under 'limits.zh' beside 'limits'. */
export const saidOf = (metadata: Readonly<Record<string, string>>, key: string) =>
  metadata[`${key}.${speech.locale}`] ?? metadata[key];

/** Two tables of long texts, which are data of their own rather than part of a script. */
export const fetched = <T>(...urls: [en: string, zh: string]) =>
  Promise.all(urls.map(async (url) => (await fetch(url)).json())) as Promise<[T, T]>;

/** The same as words of a part that waits for `arrived` before it is shown. */
export function later<T extends Record<string, string>>(en: string, zh: string) {
  const tables = [{}, {}] as [T, T];
  const arrived = fetched<T>(en, zh).then((both) => tables.forEach((table, i) => Object.assign(table, both[i])));
  return { w: words<keyof T & string>(...tables), arrived };
}
