import en from './words/steps.en.json';
import { words } from '../shared/words/speech.svelte';
import zh from './words/steps.zh.json';

export const w = words(en, zh);
