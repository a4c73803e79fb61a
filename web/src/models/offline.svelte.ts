// Keeps the page with all of its own models for when there is no network.
import { storedModels, Translator } from 'wasmformer';
import { keepPage } from '../shell/isolation';
import { loadEncoder, ownEncoders } from './encoder';
import { PageError, reason, type Reason } from '../shared/words/reason';
import { createModels, type Models } from './models.svelte';
import type { Stores } from '../shared/stores.svelte';

const PAGE = 7e6; // bytes of the page without its models, about

export class Offline {
  readonly #models: Models;
  readonly #all: readonly { url: string; bytes: number }[];
  readonly total: number;
  /** Bytes that have come; null before and after. */
  loaded = $state<number | null>(null);
  /** Bytes that are kept, once all are. */
  kept = $state(0);
  problem = $state.raw<Reason | ''>('');

  constructor(models: Models) {
    this.#models = models;
    this.#all = [...models.own, ...ownEncoders];
    this.total = this.#all.reduce((sum, { bytes }) => sum + bytes, PAGE);
  }

  async keep() {
    this.problem = '';
    let done = (this.loaded = 0);
    try {
      const stored = (await storedModels.list()).map(({ url }) => url);
      for (const { url, bytes } of this.#all) {
        if (!stored.includes(url)) {
          const onProgress = (loaded: number) => (this.loaded = done + loaded);
          const translates = this.#models.own.some((model) => model.url === url);
          (await (translates ? Translator.load(url, { onProgress }) : loadEncoder(url, { onProgress }))).dispose();
        }
        this.loaded = done += bytes;
      }
      const kept = (await storedModels.list()).map(({ url }) => url);
      if (this.#all.some(({ url }) => !kept.includes(url))) throw new PageError('storage-refused-model', 'the browser refused to store a model');
      this.kept = done + (await keepPage(this.#models.info!));
    } catch (error) {
      this.problem = reason(error);
    } finally {
      this.loaded = null;
    }
  }
}

export const createOffline = (stores: Stores) => new Offline(stores.get(createModels));
