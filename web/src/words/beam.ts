import type Words from './en/beam.json';
import en from './en/beam.json?url';
import { later } from './speech.svelte';
import zh from './zh/beam.json?url';

export const { w, arrived } = later<typeof Words>(en, zh);
