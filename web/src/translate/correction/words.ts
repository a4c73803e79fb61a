// The words of the form for corrections.
import { featureWords } from '../../shared/words/speech.svelte';

export const { words: correctionWords, arrived } = featureWords({
  en: () => import('./words/en.json'),
  zh: () => import('./words/zh.json'),
});
