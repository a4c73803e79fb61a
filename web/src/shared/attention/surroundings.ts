import { createContext } from 'svelte';
import type { AttentionKey } from './words';
import type { Values } from '../words/language';

/** What the drawings of attention take from where they stand: in the page, or in the custom element. */
export interface Surroundings {
  t(key: AttentionKey, values?: Values): string;
  number(value: number, options?: Intl.NumberFormatOptions): string;
  percent(share: number): string;
  /** Another value whenever the colours change. */
  readonly theme: unknown;
}

export const [surroundings, setSurroundings] = createContext<Surroundings>();
