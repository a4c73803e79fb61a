// The one state of the page: what is loaded, what is typed, what came out, and what the visitor looks at.
import { Translator, type Hypothesis, type SourceToken, type TargetToken, type TranslatorInfo } from 'wasmformer';
import example from 'virtual:example';
import models, { type ModelEntry } from 'virtual:models';
import { selectMap, type Head, type Maps } from './attention';
import { isolate } from './isolation';
import { examples, fill, strings, type Key, type Locale } from './strings';

/** A finished translation together with the text that it is of. */
export interface Shown {
  source: string;
  text: string;
  score: number;
  sourceTokens: SourceToken[];
  targetTokens: TargetToken[];
  alternatives: Hypothesis[];
  cross: Maps;
}

/** What is pointed at: a step (row), a source piece (column), or a cell (both). */
export interface Focus {
  row: number | null;
  column: number | null;
}

/** What went wrong, to be said in the visitor's language. */
export interface Problem {
  key: Key;
  reason?: string;
}

const NOTHING: Focus = { row: null, column: null };
const TYPING_PAUSE = 180; // ms without a key before the search starts
const BEAM_SIZE = 4;

function remembered(key: string): string | null {
  try {
    return localStorage.getItem(`wasmformer.${key}`);
  } catch {
    return null; // storage may be forbidden; the page works without
  }
}

function remember(key: string, value: string) {
  try {
    localStorage.setItem(`wasmformer.${key}`, value);
  } catch {
    // as above
  }
}

/** An error's sentence without its tag, to stand after a colon. */
function reason(error: unknown): string {
  return String(error instanceof Error ? error.message : error).replace(/^\[[\w ]+\] /, '').replace(/\.$/, '');
}

class Page {
  locale = $state<Locale>('en');
  theme = $state<'light' | 'dark'>('light');

  readonly models: readonly ModelEntry[] = models;
  model = $state<ModelEntry | undefined>(models[0]);
  download = $state.raw<{ loaded: number; total: number } | null>(null);
  loadError = $state.raw<Problem | null>(null);
  info = $state.raw<TranslatorInfo | null>(null);

  source = $state('');
  partial = $state<string | null>(null); // not null: a search is running
  shown = $state.raw<Shown | null>(null);
  translateError = $state.raw<Problem | null>(null);
  tokensPerSecond = $state<number | null>(null);

  layer = $state<number | null>(null); // null: the last
  head = $state<Head>('mean');
  focus = $state.raw<Focus>(NOTHING);

  /** The shown translation is that of the text in the box. */
  readonly fresh = $derived(this.shown !== null && this.shown.source === this.source && this.partial === null);
  readonly shownLayer = $derived(
    this.shown === null ? 0 : Math.min(this.layer ?? Infinity, this.shown.cross.layers - 1),
  );
  readonly shownHead = $derived<Head>(
    this.head !== 'mean' && this.shown !== null && this.head >= this.shown.cross.heads ? 'mean' : this.head,
  );
  readonly map = $derived(this.shown && selectMap(this.shown.cross, this.shownLayer, this.shownHead));
  readonly sourceLanguage = $derived(this.languageName(0));
  readonly targetLanguage = $derived(this.languageName(1));
  readonly examples = $derived(examples[this.model?.languages.split('-')[0] ?? ''] ?? []);

  #translator: Translator | null = null;
  #loading: AbortController | null = null;
  #search: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  start() {
    const locale = remembered('locale') ?? (navigator.language.startsWith('zh') ? 'zh' : 'en');
    this.setLocale(locale === 'zh' ? 'zh' : 'en', false);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const follow = () => this.setTheme((remembered('theme') ?? (dark.matches ? 'dark' : 'light')) as 'light', false);
    dark.addEventListener('change', follow);
    follow();
    this.source = this.examples[0] ?? '';
    if (example) {
      const { perMille, ...sizes } = example.cross;
      this.shown = { ...example, cross: { ...sizes, data: perMille.map((weight) => weight / 1000) } };
    }
    void isolate().then(() => this.model && this.load(this.model));
  }

  setLocale(locale: Locale, keep = true) {
    this.locale = locale;
    document.documentElement.lang = locale === 'zh' ? 'zh-Hans' : 'en';
    if (keep) remember('locale', locale);
  }

  setTheme(theme: 'light' | 'dark', keep = true) {
    this.theme = theme;
    document.documentElement.dataset.theme = theme;
    if (keep) remember('theme', theme);
  }

  async load(entry: ModelEntry) {
    this.#loading?.abort();
    this.#search?.abort();
    const loading = (this.#loading = new AbortController());
    this.model = entry;
    this.loadError = null;
    this.download = { loaded: 0, total: entry.bytes };
    try {
      const translator = await Translator.load(new URL(entry.url, document.baseURI), {
        signal: loading.signal,
        onProgress: (loaded, total) => {
          if (loading === this.#loading) this.download = { loaded, total: total ?? entry.bytes };
        },
      });
      if (loading !== this.#loading) return translator.dispose(); // another model was chosen meanwhile
      this.#translator?.dispose();
      this.#translator = translator;
      this.info = translator.info;
      void this.#translate();
    } catch (error) {
      if (loading !== this.#loading) return;
      this.loadError = loading.signal.aborted ? { key: 'cancelled' } : { key: 'loadFailed', reason: reason(error) };
    } finally {
      if (loading === this.#loading) this.download = null;
    }
  }

  cancelLoading() {
    this.#loading?.abort();
  }

  /** A new key ends the search for the text before it, and starts its own after a short pause. */
  type(text: string, pause = TYPING_PAUSE) {
    this.source = text;
    this.focus = NOTHING;
    this.#search?.abort();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.shown?.source !== text) void this.#translate();
    }, pause);
  }

  async #translate() {
    const text = this.source;
    this.translateError = null;
    this.#search?.abort();
    if (text.trim() === '' || !this.#translator) {
      this.shown = null;
      this.partial = null;
      return;
    }
    const search = (this.#search = new AbortController());
    this.partial = '';
    const begin = performance.now();
    try {
      const result = await this.#translator.translate(text, {
        beamSize: BEAM_SIZE,
        nBest: BEAM_SIZE,
        attention: true,
        signal: search.signal,
        onToken: (partial) => {
          if (search === this.#search) this.partial = partial;
        },
      });
      if (search !== this.#search) return;
      this.tokensPerSecond = result.targetTokens.length / ((performance.now() - begin) / 1000);
      this.focus = NOTHING; // it may lie outside the new map
      this.shown = { ...result, source: text, cross: result.attention!.cross };
    } catch (error) {
      if (search !== this.#search || search.signal.aborted) return;
      this.shown = null;
      this.translateError = { key: 'translateFailed', reason: reason(error) };
    } finally {
      if (search === this.#search) this.partial = null;
    }
  }

  look(row: number | null, column: number | null) {
    if (row !== this.focus.row || column !== this.focus.column) this.focus = { row, column };
  }

  lookAway() {
    this.focus = NOTHING;
  }

  languageName(side: 0 | 1): string {
    const code = this.model?.languages.split('-')[side];
    if (!code) return '';
    try {
      return new Intl.DisplayNames([this.locale], { type: 'language' }).of(code) ?? code;
    } catch {
      return code; // the file is not named after languages
    }
  }
}

export const page = new Page();

export function t(key: Key, values?: Record<string, string | number>): string {
  return fill(strings[page.locale][key], values);
}

export function say(problem: Problem): string {
  return t(problem.key, { reason: problem.reason ?? '' });
}

export function number(value: number, options: Intl.NumberFormatOptions = {}): string {
  return new Intl.NumberFormat(page.locale, options).format(value).replace('-', '−');
}

export function percent(share: number): string {
  return number(share, { style: 'percent', maximumFractionDigits: share > 0 && share < 0.01 ? 1 : 0 });
}

export function megabytes(bytes: number): string {
  return number(bytes / 1e6, { style: 'unit', unit: 'megabyte', maximumFractionDigits: 1, minimumFractionDigits: 1 });
}
