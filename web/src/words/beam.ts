import en from './en/beam.json';
import { words } from './speech.svelte';
import zh from './zh/beam.json';

export const w = words(en, zh);
