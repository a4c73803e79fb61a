import type Words from './en/classify.json';
import en from './en/classify.json?url';
import { later } from './speech.svelte';
import zh from './zh/classify.json?url';

export const { w, arrived } = later<typeof Words>(en, zh);
