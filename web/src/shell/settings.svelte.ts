// The language and the colours of the page, which are remembered.
import type { Locale } from '../shared/words/language';
import { speech } from '../shared/words/speech.svelte';

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
  theme = $state<Theme>('light');

  start() {
    // WebKitGTK says 'C' where the system has no language; uPlot, in the view Train, would not load with that.
    try {
      Intl.getCanonicalLocales(navigator.language);
    } catch {
      Object.defineProperty(navigator, 'language', { value: 'en' });
    }
    const locale = remembered('locale') ?? (navigator.language.startsWith('zh') ? 'zh' : 'en');
    this.setLocale(locale === 'zh' ? 'zh' : 'en', false);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const follow = () => this.setTheme((remembered('theme') ?? (dark.matches ? 'dark' : 'light')) as Theme, false);
    dark.addEventListener('change', follow);
    follow();
  }

  setLocale(locale: Locale, keep = true) {
    speech.locale = locale;
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
