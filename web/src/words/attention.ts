// The words of the attention view, in the page and in the custom element.
import en from './en/attention.json';
import zh from './zh/attention.json';

export const attentionWords = [en, zh] as const;
export type AttentionKey = keyof typeof en;
