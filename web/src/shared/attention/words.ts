// The words of the attention view, in the page and in the custom element.
import en from './words/en.json';
import zh from './words/zh.json';

export const attentionWords = [en, zh] as const;
export type AttentionKey = keyof typeof en;
