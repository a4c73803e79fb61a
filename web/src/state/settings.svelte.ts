// Language and colours of the page, and the words and numbers in that language.
import { language, type Locale } from '../language';
export { reason } from '../reason';
import { strings, type Key } from '../strings';
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

/** Parts of the page that bring their own words make their own `t`, so that these load with them. */
export const { words, number, percent } = language(() => settings.locale);

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

const UNITS = [['second', 1, 90], ['minute', 60, 5400], ['hour', 3600, Infinity]] as const;

/** '23 seconds', '9 minutes': two digits are all that an estimate has. */
export function duration(seconds: number): string {
  const [unit, size] = UNITS.find(([, , end]) => seconds < end)!;
  const count = Math.max(1, Math.round(seconds / size));
  return number(count, { style: 'unit', unit, unitDisplay: 'long', maximumSignificantDigits: 2 });
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
