// The words of the Models view; those of its status line are on the first screen.
import { featureWords } from '../shared/words/speech.svelte';

export const { words: modelsWords, arrived } = featureWords({
  en: () => import('./words/en.json'),
  zh: () => import('./words/zh.json'),
});
