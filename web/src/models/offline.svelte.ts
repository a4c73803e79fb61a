// Keeps the page with all of its own models for when there is no network.
import { storedModels, Translator } from 'wasmformer';
import { keepPage } from '../shell/isolation';
import { loadEncoder, ownEncoders } from './encoder';
import { PageError, reason, type Reason } from '../shared/words/reason';
import { models } from './models.svelte';

const PAGE = 5e6; // bytes of the page without its models, about
const all = [...models.own, ...ownEncoders];

class Offline {
  readonly total = all.reduce((sum, { bytes }) => sum + bytes, PAGE);
  /** Bytes that have come; null before and after. */
  loaded = $state<number | null>(null);
  /** Bytes that are kept, once all are. */
  kept = $state(0);
  problem = $state.raw<Reason | ''>('');

  async keep() {
    this.problem = '';
    let done = (this.loaded = 0);
    try {
      const stored = (await storedModels.list()).map(({ url }) => url);
      for (const { url, bytes } of all) {
        if (!stored.includes(url)) {
          const onProgress = (loaded: number) => (this.loaded = done + loaded);
          const translates = models.own.some((model) => model.url === url);
          (await (translates ? Translator.load(url, { onProgress }) : loadEncoder(url, { onProgress }))).dispose();
        }
        this.loaded = done += bytes;
      }
      const kept = (await storedModels.list()).map(({ url }) => url);
      if (all.some(({ url }) => !kept.includes(url))) throw new PageError('storage-refused-model', 'the browser refused to store a model');
      this.kept = done + (await keepPage(models.info!));
    } catch (error) {
      this.problem = reason(error);
    } finally {
      this.loaded = null;
    }
  }
}

export const offline = new Offline();
