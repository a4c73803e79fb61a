// Messages about sentence pairs between the page and the worker that reads them.
import type { SentencePair } from 'wasmformer';

export interface Input {
  /** One file of columns, or two of lines. */
  files?: readonly File[];
  text?: string;
  /** Pairs that come with the page; the last ones are there to validate on. */
  url?: string;
}

export interface Table {
  name: string;
  rows: readonly (readonly string[])[];
  columns: number;
  /** The first row names the columns. */
  header: boolean;
  /** The columns that are most likely meant. */
  source: number;
  target: number;
}

export interface Wish {
  source: number;
  target: number;
  header: boolean;
  lowercase: boolean;
  /** The most characters of a side. */
  longest: number;
  /** The rows from this one on are there to validate on. */
  validationFrom?: number;
}

export const REASONS = ['missing', 'empty', 'long', 'twice'] as const;
export type Reason = (typeof REASONS)[number];

export interface Odd {
  count: number;
  /** The first of them, by their number in the file, from 1. */
  rows: { row: number; text: string }[];
}

export interface Made {
  pairs: number;
  tsv: string;
  validation: SentencePair[];
  odd: Partial<Record<Reason, Odd>>;
  preview: SentencePair[];
  /** 'de-en', where the columns or files are called so. */
  languages: string;
}

export type Bad = 'binary' | 'oneColumn' | 'lines' | 'tooFew' | 'none' | 'files' | 'big' | 'failed';

export const MOST_BYTES = 50e6;
