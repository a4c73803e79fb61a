// Words and numbers in one of the languages of the interface. The tables are JSON files: en/NAME.json and zh/NAME.json.
import type { Reason } from './reason';

export type Locale = 'en' | 'zh';
export type Values = Record<string, string | number | Reason>;
type Table<K extends string> = Readonly<Record<K, string>>;

/** Speaks the language of `locale` at the time of each call; `retell` says in it what went wrong. */
export function language(locale: () => Locale, retell = ({ text }: Reason) => text) {
  const formats = new Map<string, Intl.NumberFormat>(); // making one takes longer than all that it formats

  function number(value: number, wanted: Intl.NumberFormatOptions = {}): string {
    const options = { signDisplay: 'negative', ...wanted } as const; // no '−0.00'
    const key = locale() + JSON.stringify(options);
    const format = formats.get(key) ?? new Intl.NumberFormat(locale(), options);
    formats.set(key, format);
    return format.format(value).replace('-', '−').replace(/(\d)(?=\p{Script=Han})/u, '$1 ');
  }

  return {
    number,
    percent: (share: number) =>
      number(share, { style: 'percent', maximumFractionDigits: share > 0 && share < 0.01 ? 1 : 0 }),
    /** The `t` of a table in both languages; {name} in its words is replaced by a value. */
    words:
      <K extends string>(en: Table<K>, zh: Table<K>) =>
        (key: K, values: Values = {}): string =>
          (locale() === 'zh' ? zh : en)[key].replace(/\{(\w+)\}(?=(\p{Script=Han}?))/gu, (whole, name, next) => {
            const given = values[name] ?? whole;
            const value = typeof given === 'object' ? retell(given) : String(given);
            return next && /\d$/.test(value) ? `${value} ` : value;
          }),
  };
}
