import en from './en/picture.json';
import { words } from './speech.svelte';
import zh from './zh/picture.json';

export const w = words(en, zh);
