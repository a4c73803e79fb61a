// Keeps the page with all of its own models for when there is no network.
import { Classifier, storedModels, Tagger, Translator } from 'wasmformer';
import { keepPage } from './isolation';
import { reason } from '../text/reason';
import { models, ownEncoders } from '../state/models.svelte';

const PAGE = 5e6; // bytes of the page without its models, about
const all = [...models.own, ...ownEncoders];

class Offline {
  readonly total = all.reduce((sum, { bytes }) => sum + bytes, PAGE);
  /** Bytes that have come; null before and after. */
  loaded = $state<number | null>(null);
  /** Bytes that are kept, once all are. */
  kept = $state(0);
  problem = $state('');

  async keep() {
    this.problem = '';
    let done = (this.loaded = 0);
    try {
      const stored = (await storedModels.list()).map(({ url }) => url);
      for (const { url, bytes } of all) {
        if (!stored.includes(url)) {
          const onProgress = (loaded: number) => (this.loaded = done + loaded);
          (await anyModel(url, onProgress)).dispose();
        }
        this.loaded = done += bytes;
      }
      const kept = (await storedModels.list()).map(({ url }) => url);
      if (all.some(({ url }) => !kept.includes(url))) throw new Error('the browser refused to store a model');
      this.kept = done + (await keepPage());
    } catch (error) {
      this.problem = reason(error);
    } finally {
      this.loaded = null;
    }
  }
}

/** Whatever it does: one that does something else is kept and not loaded again. */
const anyModel = (url: string, onProgress: (loaded: number) => void) =>
  Translator.load(url, { onProgress }).catch(() => Classifier.load(url)).catch(() => Tagger.load(url));

export const offline = new Offline();
