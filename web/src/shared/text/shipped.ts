// The texts that come with the page: lines of columns with tabs between them.
import type { SentencePair } from 'wasmformer';
import { decode } from './decode';
import { fileAt } from './file-at';

/** Sentence pairs of two languages, one of which is English; none where the languages are others. */
export async function shippedPairs(source = '', target = ''): Promise<SentencePair[]> {
  const isTurned = source !== 'en';
  if (source === target || (isTurned && target !== 'en')) return [];
  const pairs = (await rowsAt(`pairs/en-${isTurned ? source : target}.tsv.gz`)) as [string, string][];
  return isTurned ? pairs.map(([english, other]): SentencePair => [other, english]) : pairs;
}

export async function rowsAt(path: string): Promise<string[][]> {
  // Some hosts declare the compression, and then the browser has unpacked it already.
  return rowsIn(await decode(await fileAt(new URL(path, document.baseURI).href), path));
}

const rowsIn = (tsv: string) =>
  tsv
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'));
export const pairsIn = (tsv: string) => rowsIn(tsv) as [string, string][];
