// The words of the form for the visitor's terms.
import { featureWords } from '../../shared/words/speech.svelte';

export const { words: termWords, arrived } = featureWords({
  en: () => import('./words/en.json'),
  zh: () => import('./words/zh.json'),
});
