// The model: which there are, which one is loaded or on its way.
import { Translator, type TranslatorInfo } from 'wasmformer';
import bundled, { type ModelEntry } from 'virtual:models';
import { link } from './link.svelte';
import { languageName, reason, type Problem } from './settings.svelte';

class Models {
  readonly bundled: readonly ModelEntry[] = bundled;
  model = $state<ModelEntry | undefined>(bundled[0]);
  download = $state.raw<{ loaded: number; total: number } | null>(null);
  problem = $state.raw<Problem | null>(null);
  translator = $state.raw<Translator | null>(null);

  readonly info = $derived<TranslatorInfo | null>(this.translator?.info ?? null);
  readonly sourceCode = $derived(this.model?.languages.split('-')[0]);
  readonly targetCode = $derived(this.model?.languages.split('-')[1]);
  readonly sourceLanguage = $derived(languageName(this.sourceCode));
  readonly targetLanguage = $derived(languageName(this.targetCode));

  #loading: AbortController | null = null;

  /** Loads the link's model, or the first. */
  start() {
    const entry = bundled.find(({ languages }) => languages === link.parameters.model) ?? bundled[0];
    if (entry) void this.load(entry);
  }

  async load(entry: ModelEntry) {
    this.#loading?.abort();
    const loading = (this.#loading = new AbortController());
    this.model = entry;
    if (entry !== bundled[0] || link.parameters.model) link.set({ model: entry.languages });
    this.problem = null;
    this.download = { loaded: 0, total: entry.bytes };
    try {
      const translator = await Translator.load(new URL(entry.url, document.baseURI), {
        signal: loading.signal,
        onProgress: (loaded, total) => {
          if (loading === this.#loading) this.download = { loaded, total: total ?? entry.bytes };
        },
      });
      if (loading !== this.#loading) return translator.dispose(); // another model was chosen meanwhile
      this.translator?.dispose();
      this.translator = translator;
    } catch (error) {
      if (loading !== this.#loading) return;
      this.problem = loading.signal.aborted ? { key: 'cancelled' } : { key: 'loadFailed', reason: reason(error) };
    } finally {
      if (loading === this.#loading) this.download = null;
    }
  }

  cancel() {
    this.#loading?.abort();
  }
}

export const models = new Models();
