import { createContext } from 'svelte';
import type { AttentionKey } from './words';
import type { Values } from '../words/language';

/** Services that the drawings of attention take from their host: the page, or the custom element. */
export interface Surroundings {
  words(key: AttentionKey, values?: Values): string;
  number(value: number, options?: Intl.NumberFormatOptions): string;
  percent(share: number): string;
  /** Another value whenever the colors change. */
  readonly theme: unknown;
}

export const [surroundings, setSurroundings] = createContext<Surroundings>();
