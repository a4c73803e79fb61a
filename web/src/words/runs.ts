import en from './en/runs.json';
import { words } from './speech.svelte';
import zh from './zh/runs.json';

export const w = words(en, zh);
