// The words of the Classify view.
import { featureWords } from '../shared/words/speech.svelte';

export const { words: classifyWords, arrived } = featureWords({
  en: () => import('./words/en.json'),
  zh: () => import('./words/zh.json'),
});
