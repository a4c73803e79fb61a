import en from './en/train.json';
import { words } from './speech.svelte';
import zh from './zh/train.json';

export const w = words(en, zh);
