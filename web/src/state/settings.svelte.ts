// Language and colours of the page, and the words and numbers in that language.
import { fill, strings, type Key, type Locale } from '../strings';
import type { View } from './link.svelte';

export type Theme = 'light' | 'dark';

export function remembered(key: string): string | null {
  try {
    return localStorage.getItem(`wasmformer.${key}`);
  } catch {
    return null; // storage may be forbidden; the page works without
  }
}

export function remember(key: string, value: string) {
  try {
    localStorage.setItem(`wasmformer.${key}`, value);
  } catch {
    // as above
  }
}

class Settings {
  locale = $state<Locale>('en');
  theme = $state<Theme>('light');

  start() {
    const locale = remembered('locale') ?? (navigator.language.startsWith('zh') ? 'zh' : 'en');
    this.setLocale(locale === 'zh' ? 'zh' : 'en', false);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const follow = () => this.setTheme((remembered('theme') ?? (dark.matches ? 'dark' : 'light')) as Theme, false);
    dark.addEventListener('change', follow);
    follow();
  }

  setLocale(locale: Locale, keep = true) {
    this.locale = locale;
    document.documentElement.lang = locale === 'zh' ? 'zh-Hans' : 'en';
    if (keep) remember('locale', locale);
  }

  setTheme(theme: Theme, keep = true) {
    this.theme = theme;
    document.documentElement.dataset.theme = theme;
    if (keep) remember('theme', theme);
  }
}

export const settings = new Settings();

type Values = Record<string, string | number>;

/** The `t` of a part of the page that brings its own words, English and Chinese, so that they load with it. */
export function words<K extends string>(table: Record<K, readonly [string, string]>) {
  return (key: K, values?: Values) => fill(table[key][settings.locale === 'zh' ? 1 : 0], values);
}

export const t = words<Key>(strings);

export const viewName = (view: View) => t(`view_${view}`);

/** What went wrong, to be said in the visitor's language. */
export interface Problem {
  key: Key;
  reason?: string;
}

export function say(problem: Problem): string {
  return t(problem.key, { reason: problem.reason ?? '' });
}

/** An error's sentence without its tags, to stand after a colon. */
export function reason(error: unknown): string {
  return String(error instanceof Error ? error.message : error).replace(/\[[\w ]+\] /g, '').replace(/\.$/, '');
}

const formats = new Map<string, Intl.NumberFormat>(); // making one takes longer than all that it formats

export function number(value: number, options: Intl.NumberFormatOptions = {}): string {
  const key = settings.locale + JSON.stringify(options);
  const format = formats.get(key) ?? new Intl.NumberFormat(settings.locale, options);
  formats.set(key, format);
  return format.format(value).replace('-', '−');
}

export function percent(share: number): string {
  return number(share, { style: 'percent', maximumFractionDigits: share > 0 && share < 0.01 ? 1 : 0 });
}

export function megabytes(bytes: number): string {
  return number(bytes / 1e6, { style: 'unit', unit: 'megabyte', maximumFractionDigits: 1, minimumFractionDigits: 1 });
}

export function languageName(code: string | undefined): string {
  if (!code) return '';
  try {
    return new Intl.DisplayNames([settings.locale], { type: 'language' }).of(code) ?? code;
  } catch {
    return code; // the file is not named after languages
  }
}
