import type Words from './en/runs.json';
import en from './en/runs.json?url';
import { later } from './speech.svelte';
import zh from './zh/runs.json?url';

export const { w, arrived } = later<typeof Words>(en, zh);
