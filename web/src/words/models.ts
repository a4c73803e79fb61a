import type Words from './en/models.json';
import en from './en/models.json?url';
import { later } from './speech.svelte';
import zh from './zh/models.json?url';

export const { w, arrived } = later<typeof Words>(en, zh);
