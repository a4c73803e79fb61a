// The words of the Train view.
import { featureWords } from '../shared/words/speech.svelte';

export const { words: trainWords, table, arrived } = featureWords({
  en: () => import('./words/en.json'),
  zh: () => import('./words/zh.json'),
});

/** 'no warm-up': a setting with this value in words of its own, if there are such words. */
export function settingPhrase(name: string, value: string | number | boolean): string | undefined {
  const key = `is_${name}_${value}`;
  return key in table() ? trainWords(key as 'is_norm_post') : undefined;
}

type Size = Record<'d_model' | 'encoder_layers' | 'decoder_layers' | 'num_heads', string | number>;
export function sizeWords({ d_model, encoder_layers, decoder_layers, num_heads }: Size): string {
  const sizes = { width: d_model, encoder: encoder_layers, decoder: decoder_layers, heads: num_heads };
  return trainWords('sizeHint', sizes);
}
