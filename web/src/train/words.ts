// The words of the Train view.
import { featureWords } from '../shared/words/speech.svelte';

export const { words: trainWords, arrived } = featureWords({
  en: () => import('./words/en.json'),
  zh: () => import('./words/zh.json'),
});

type Size = Record<'d_model' | 'encoder_layers' | 'decoder_layers' | 'num_heads', string | number>;
export function sizeWords({ d_model, encoder_layers, decoder_layers, num_heads }: Size): string {
  const sizes = { width: d_model, encoder: encoder_layers, decoder: decoder_layers, heads: num_heads };
  return trainWords('sizeHint', sizes);
}
