// The words of the laboratory.
import { featureWords } from '../shared/words/speech.svelte';

export const { words: labWords, table: labTable, arrived } = featureWords({
  en: () => import('./words/en.json'),
  zh: () => import('./words/zh.json'),
});
