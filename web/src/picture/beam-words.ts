import type Words from './words/beam.en.json';
import en from './words/beam.en.json?url';
import { later } from '../shared/words/speech.svelte';
import zh from './words/beam.zh.json?url';

export const { w, arrived } = later<typeof Words>(en, zh);
