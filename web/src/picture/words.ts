import en from './words/en.json';
import { words } from '../shared/words/speech.svelte';
import zh from './words/zh.json';

export const w = words(en, zh);
