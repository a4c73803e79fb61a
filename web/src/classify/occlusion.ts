// Which words decide the label of a text: what it becomes when words are left out.
import type { LabelProbability } from 'wasmformer';

export interface WordSpan {
  start: number;
  end: number;
}

/** The labels of each text, the most probable first. */
type Classify = (texts: readonly string[]) => Promise<readonly (readonly LabelProbability[])[]>;

export interface Occlusion {
  /** How much less probable the label is without each word. */
  drops: number[];
  /** Words to leave out, the one that matters most first, and the label that the rest of the text then has. */
  turn?: { words: string[]; label: string };
}

const MAX_LEFT_OUT = 8; // words together

/** The text without some of its words, by their numbers. */
export function textWithout(text: string, words: readonly WordSpan[], left: readonly number[]): string {
  const isKept = (word: number) => !left.includes(word);
  return words.reduceRight(
    (rest, { start, end }, word) => (isKept(word) ? rest : rest.slice(0, start) + rest.slice(end)),
    text,
  );
}

/**
 * Leaves out each word alone; then, greedily, word after word, always the one whose loss makes the label least
 * probable, until the text has another label. One word stays.
 */
export async function occlude(
  text: string,
  words: readonly WordSpan[],
  { label, probability }: LabelProbability,
  classify: Classify,
): Promise<Occlusion> {
  const left: number[] = [];
  const most = Math.min(MAX_LEFT_OUT, words.length - 1);
  let drops: number[] = [];
  while (left.length < most) {
    const candidates = words.map((_, word) => word).filter((word) => !left.includes(word));
    const labels = await classify(candidates.map((word) => textWithout(text, words, [...left, word])));
    const probabilities = labels.map((all) => all.find((other) => other.label === label)?.probability ?? 0);
    if (left.length === 0) drops = probabilities.map((without) => probability - without);
    const best = probabilities.indexOf(Math.min(...probabilities));
    left.push(candidates[best]);
    const [first] = labels[best];
    if (first && first.label !== label) {
      return {
        drops,
        turn: { words: left.map((word) => text.slice(words[word].start, words[word].end)), label: first.label },
      };
    }
  }
  return { drops };
}
