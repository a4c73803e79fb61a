// Words and numbers in one of the languages that the interface speaks.

export type Locale = 'en' | 'zh';
export type Values = Record<string, string | number>;
type Table<K extends string> = Record<K, readonly [english: string, chinese: string]>;

/** Speaks what `locale` says at the time. */
export function language(locale: () => Locale) {
  const formats = new Map<string, Intl.NumberFormat>(); // making one takes longer than all that it formats

  function number(value: number, wanted: Intl.NumberFormatOptions = {}): string {
    const options = { signDisplay: 'negative', ...wanted } as const; // no '−0.00'
    const key = locale() + JSON.stringify(options);
    const format = formats.get(key) ?? new Intl.NumberFormat(locale(), options);
    formats.set(key, format);
    return format.format(value).replace('-', '−');
  }

  return {
    number,
    percent: (share: number) =>
      number(share, { style: 'percent', maximumFractionDigits: share > 0 && share < 0.01 ? 1 : 0 }),
    /** The `t` of a table; {name} in its words is replaced by a value. */
    words:
      <K extends string>(table: Table<K>) =>
      (key: K, values: Values = {}): string =>
        table[key][locale() === 'zh' ? 1 : 0].replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole)),
  };
}
