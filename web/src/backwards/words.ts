// The words of figure 1 backwards.
import { featureWords } from '../shared/words/speech.svelte';

export const { words: backWords, arrived } = featureWords({
  en: () => import('./words/en.json'),
  zh: () => import('./words/zh.json'),
});
