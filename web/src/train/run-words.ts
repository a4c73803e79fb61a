import type Words from './words/runs.en.json';
import en from './words/runs.en.json?url';
import { later } from '../shared/words/speech.svelte';
import zh from './words/runs.zh.json?url';

export const { w, arrived } = later<typeof Words>(en, zh);
