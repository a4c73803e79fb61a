// The words of the lecture and its figures.
import { featureWords } from '../../shared/words/speech.svelte';

export const { words: lectureWords, table, arrived } = featureWords({
  en: () => import('./words/en.json'),
  zh: () => import('./words/zh.json'),
});

/** A list in the words, such as a sentence whose tokens are told apart. */
export const items = (text: string) => text.split(' | ');
