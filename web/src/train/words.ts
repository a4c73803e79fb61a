// The words of the Train view.
import { featureWords } from '../shared/words/speech.svelte';

export const { words: trainWords, arrived } = featureWords({
  en: () => import('./words/en.json'),
  zh: () => import('./words/zh.json'),
});
