// The words of How it works, of the beam and of the experiments.
import { featureWords } from '../shared/words/speech.svelte';

export const { words: pictureWords, arrived } = featureWords({
  en: () => import('./words/en.json'),
  zh: () => import('./words/zh.json'),
});
