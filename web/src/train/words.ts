// The words of the Train view.
import { featureWords } from '../shared/words/speech.svelte';

export const { words: trainWords, arrived } = featureWords({
  en: () => import('./words/en.json'),
  zh: () => import('./words/zh.json'),
});

type Size = Record<'d_model' | 'encoder_layers' | 'decoder_layers' | 'num_heads', string | number>;
export const sizeWords = ({ d_model: width, encoder_layers: encoder, decoder_layers: decoder, num_heads: heads }: Size) =>
  trainWords('sizeHint', { width, encoder, decoder, heads });
