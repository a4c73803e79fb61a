// The n-grams of a text, as the model's training and its use both count them.

/** The number of bits of a hash. */
export const HASH_BITS = 22;
const LONGEST = 5;
const START = 0x811c9dc5;
const PRIME = 0x01000193;
const WHOLE_WORD = 0x9e3779b9;
const EDGE = 0x20;

/** Mixes a hash's bits, so that its upper ones depend on all of them. */
function mixed(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (once ^ (once >>> 13)) >>> (32 - HASH_BITS);
}

/** The words of a text: letters with their marks, in lower case. Signs that are frequent in code are words too. */
export const wordsOf = (text: string): string[] =>
  text.normalize('NFC').toLowerCase().match(/[\p{L}\p{M}]+|[<>{}[\]()=+*&|;$]/gu) ?? [];

/** Calls `visit` with the hash of each n-gram of 1 to 5 UTF-16 units in ` word `, and of a longer word as a whole. */
export function visitGrams(word: string, visit: (hash: number) => void): void {
  const length = word.length + 2;
  const unit = (at: number) => (at === 0 || at === length - 1 ? EDGE : word.charCodeAt(at - 1));
  for (let start = 0; start < length; start++) {
    let hash = START;
    const end = Math.min(length, start + LONGEST);
    for (let at = start; at < end; at++) {
      hash = Math.imul(hash ^ unit(at), PRIME);
      visit(mixed(hash));
    }
  }
  if (length <= LONGEST) return;
  let hash = WHOLE_WORD;
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), PRIME);
  visit(mixed(hash));
}

/** The hash of a UTF-16 unit as an n-gram of its own. */
export const hashOfLetter = (unit: number): number => mixed(Math.imul(START ^ unit, PRIME));
