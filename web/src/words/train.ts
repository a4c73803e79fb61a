import type Words from './en/train.json';
import en from './en/train.json?url';
import { later } from './speech.svelte';
import zh from './zh/train.json?url';

export const { w, arrived } = later<typeof Words>(en, zh);
