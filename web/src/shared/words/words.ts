// The words of the page's frame and of Translate.
import { attentionWords } from '../attention/words';
import pageEn from './en.json';
import type { Reason } from './reason';
import { words } from './speech.svelte';
import pageZh from './zh.json';

const en = { ...attentionWords[0], ...pageEn };
export type Key = keyof typeof en;
export const pageWords = words<Key>(en, { ...attentionWords[1], ...pageZh });

/** Error to show in the visitor's language. */
export interface Problem {
  key: Key;
  reason?: string | Reason;
}

export const say = ({ key, reason = '' }: Problem) => pageWords(key, { reason });
