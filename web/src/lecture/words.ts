// The words of the guided tours.
import { featureWords } from '../shared/words/speech.svelte';

export const { words: tourWords, table } = featureWords({
  en: () => import('./words/en.json'),
  zh: () => import('./words/zh.json'),
});
