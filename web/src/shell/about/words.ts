// The words of the About view.
import { featureWords } from '../../shared/words/speech.svelte';

export const { words: aboutWords, arrived } = featureWords({
  en: () => import('./words/en.json'),
  zh: () => import('./words/zh.json'),
});
