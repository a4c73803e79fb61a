// The sentence pairs that come with the page.
import type { Pair } from 'wasmformer';
import { decode } from './decode';

/** Those of two languages, one of which is English; none where there are no such pairs. */
export async function shippedPairs(source = '', target = ''): Promise<Pair[]> {
  const isTurned = source !== 'en';
  if (source === target || (isTurned && target !== 'en')) return [];
  const response = await fetch(new URL(`pairs/en-${isTurned ? source : target}.tsv.gz`, document.baseURI));
  if (!response.ok) return [];
  // Some hosts say that it is compressed, and then it comes plain.
  const pairs = pairsIn(await decode(await response.blob(), response.url));
  return isTurned ? pairs.map(([english, other]): Pair => [other, english]) : pairs;
}

/** Lines of two columns with a tab between them. */
export const pairsIn = (tsv: string) => tsv.trimEnd().split('\n').map((line) => line.split('\t') as [string, string]);
