import en from './en/steps.json';
import { words } from './speech.svelte';
import zh from './zh/steps.json';

export const w = words(en, zh);
