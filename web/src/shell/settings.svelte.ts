// The language and the colors of the page, which are remembered.
import type { Locale } from '../shared/words/language';
import { speak, speech } from '../shared/words/speech.svelte';

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

export class Settings {
  theme = $state<Theme>('light');

  start() {
    // WebKitGTK says 'C' where the system has no language; uPlot, in the view Train, would not load with that.
    try {
      Intl.getCanonicalLocales(navigator.language);
    } catch {
      Object.defineProperty(navigator, 'language', { value: 'en' });
    }
    const locale = remembered('locale') ?? (navigator.language.startsWith('zh') ? 'zh' : 'en');
    this.#show((speech.locale = locale === 'zh' ? 'zh' : 'en'));
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const follow = () => this.setTheme((remembered('theme') ?? (dark.matches ? 'dark' : 'light')) as Theme, false);
    dark.addEventListener('change', follow);
    follow();
  }

  async setLocale(locale: Locale) {
    remember('locale', locale);
    await speak(locale);
    this.#show(locale);
  }

  #show(locale: Locale) {
    document.documentElement.lang = locale === 'zh' ? 'zh-Hans' : 'en';
  }

  setTheme(theme: Theme, keep = true) {
    this.theme = theme;
    document.documentElement.dataset.theme = theme;
    if (keep) remember('theme', theme);
  }
}

export const createSettings = () => new Settings();
