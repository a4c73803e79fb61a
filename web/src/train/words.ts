import type Words from './words/en.json';
import en from './words/en.json?url';
import { later } from '../shared/words/speech.svelte';
import zh from './words/zh.json?url';

export const { w, arrived } = later<typeof Words>(en, zh);
