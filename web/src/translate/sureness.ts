// How sure a model was of what it wrote, from the probabilities of its tokens.

import type { GlossaryTerm } from 'wasmformer';
import { segments } from '../shared/attention/attention';

/** A token of less is marked. */
export const UNSURE = 0.3;
/** A translation whose tokens have less, in the geometric mean, is likely to be wrong; right ones have 0.8 and more. */
const WEAK = 0.72;

type Told = readonly { logProbability: number; piece: string }[];

export const isUnsure = ({ logProbability }: Told[number]) => logProbability < Math.log(UNSURE);

export const isWeak = (tokens: Told) =>
  tokens.reduce((sum, { logProbability }) => sum + logProbability, 0) / tokens.length < Math.log(WEAK);

/** Whether each token spells a term, of which it does not tell how sure the model was. */
function spellTerms(text: string, tokens: Told, glossary: readonly GlossaryTerm[]): boolean[] {
  const places = glossary.flatMap(({ target }) =>
    text.split(target).slice(0, -1).map((_, i, parts) => {
      const begin = parts.slice(0, i + 1).join(target).length;
      return { begin, end: begin + target.length };
    }),
  );
  const result = tokens.map(() => false);
  let at = 0;
  for (const segment of segments(text, tokens.map(({ piece }) => piece))) {
    const begin = at;
    at += segment.text.length;
    if (segment.token !== null) result[segment.token] = places.some((place) => begin < place.end && place.begin < at);
  }
  return result;
}

/** The tokens that the model has chosen by itself. */
export function ownTokens(shown: { text: string; targetTokens: Told }, glossary: readonly GlossaryTerm[] = []) {
  const isOfTerm = spellTerms(shown.text, shown.targetTokens, glossary);
  return shown.targetTokens.filter((_, i) => !isOfTerm[i]);
}

type Finished = { text: string; targetTokens: Told };

export interface Doubt {
  /** Tokens that stand in the text with a low probability. */
  unsure: ReadonlySet<number>;
  /** The translation is likely to be wrong. */
  isWeak: boolean;
}

function findDoubt(shown: Finished, glossary: readonly GlossaryTerm[] | undefined): Doubt {
  const own = new Set(ownTokens(shown, glossary));
  const pieces = shown.targetTokens.map(({ piece }) => piece);
  const visible = segments(shown.text, pieces).flatMap(({ token }) => token ?? []);
  const unsure = new Set(visible.filter((at) => own.has(shown.targetTokens[at]!) && isUnsure(shown.targetTokens[at]!)));
  // Without a colored word there is nothing that a reader could check.
  return { unsure, isWeak: unsure.size > 0 && isWeak([...own]) };
}

/** Each translation is looked at once, since every key that is typed asks again for all sentences. */
const found = new WeakMap<Finished, { glossary?: readonly GlossaryTerm[]; doubt: Doubt }>();

export function doubtOf(shown: Finished, glossary?: readonly GlossaryTerm[]): Doubt {
  const before = found.get(shown);
  if (before && before.glossary === glossary) return before.doubt;
  const doubt = findDoubt(shown, glossary);
  found.set(shown, { glossary, doubt });
  return doubt;
}

/** The text of a translation in stretches that are unsure or not. */
export function stretches({ text, targetTokens }: Finished, unsure: ReadonlySet<number>) {
  const result: { text: string; isUnsure: boolean }[] = [];
  for (const segment of segments(
    text,
    targetTokens.map(({ piece }) => piece),
  )) {
    const isUnsure = segment.token !== null && unsure.has(segment.token);
    const last = result.at(-1);
    if (last?.isUnsure === isUnsure) last.text += segment.text;
    else result.push({ text: segment.text, isUnsure });
  }
  return result;
}
