// Positions of tokens in their texts, alignments between them, and how sure the model is of words.
import type { Alignment, AlignmentOptions, Quality, TextRange } from './webpage-types.js';
import type { TextPart } from './text-parts.js';
import type { Attention, Translation } from './types.js';

type Tokens = readonly { piece: string }[];
const byteOf = (piece = '') => parseInt(/^<0x([0-9A-F]{2})>$/.exec(piece)?.[1] ?? '', 16); // or NaN

/**
 * The text as pieces spell it, without white space and without what bypassed the model, and where each of its units
 * comes from.
 */
function spelled(text: string, kept: readonly TextRange[]): { letters: string; places: TextRange[] } {
  let letters = '';
  const places: TextRange[] = [];
  for (const { 0: written, index } of text.matchAll(/\P{M}\p{M}*|\p{M}+/gsu)) {
    if (kept.some(({ start, end }) => index >= start && index < end)) continue;
    const normal = written.normalize('NFKC').replace(/\s/g, '');
    letters += normal;
    for (let i = 0; i < normal.length; i++) places.push({ start: index, end: index + written.length });
  }
  return { letters, places };
}

/** The bytes of a UTF-8 character by how many of its first bits are 1. */
const lengths = [1, 0, 2, 3, 4];

/** The text of tokens[i], and how many tokens spell it: for bytes, those of one character. */
function spelling(tokens: Tokens, i: number): { wanted: string; count: number } {
  const { piece } = tokens[i]!;
  const first = byteOf(piece);
  if (Number.isNaN(first)) return { wanted: piece.replaceAll('▁', ''), count: 1 };
  const count = lengths[Math.clz32(~(first << 24))] ?? 0;
  const bytes = tokens.slice(i, i + count).map((token) => byteOf(token.piece));
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(bytes));
    if (count > 0 && !bytes.includes(NaN)) return { wanted: text.normalize('NFKC').replace(/\s/g, ''), count };
  } catch {
    // not a character
  }
  return { wanted: '\ufffd', count: 1 }; // as SentencePiece does for each byte that belongs to no character
}

/** The ranges of the tokens that stand for kept text, by their index. */
function placeholders(tokens: Tokens, kept: readonly TextPart[]): Map<number, TextRange> {
  const left = [...kept];
  const found = new Map<number, TextRange>();
  tokens.forEach(({ piece }, i) => {
    const at = left.findIndex(({ text }) => text === piece.replace(/^▁/, ''));
    if (at < 0) return;
    const { start, end } = left[at]!;
    left.splice(at, 1);
    found.set(i, { start, end });
  });
  return found;
}

/** The ranges of the tokens that the text spells; `kept`: what bypassed the model, whose tokens are its text. */
function spelledRanges(tokens: Tokens, text: string, kept: readonly TextPart[]): (TextRange | undefined)[] {
  const { letters, places } = spelled(text, kept);
  const known = placeholders(tokens, kept);
  const found: (TextRange | undefined)[] = [];
  let cursor = 0;
  for (let i = 0; i < tokens.length;) {
    if (known.has(i)) {
      found.push(known.get(i++));
      continue;
    }
    const { wanted, count } = spelling(tokens, i);
    const farthest = cursor + (found.at(-1) === undefined ? 40 : 8);
    const at = wanted === '' ? -1 : letters.slice(0, farthest + wanted.length).indexOf(wanted, cursor);
    const last = at + wanted.length - 1;
    const range = at < 0 ? undefined : { start: places[at]!.start, end: places[last]!.end };
    for (let k = 0; k < count; k++) found.push(range && { ...range });
    if (range) cursor = last + 1;
    i += count;
  }
  return found;
}

/** Finds each token's range in `text`; one hidden by normalization or `<unk>` takes what lies between its neighbors. */
function locate(tokens: Tokens, text: string, kept: readonly TextPart[]): TextRange[] {
  const found = spelledRanges(tokens, text, kept);
  let end = text.trimEnd().length;
  const nextStarts = found.map(() => 0);
  for (let i = found.length - 1; i >= 0; i--) nextStarts[i] = end = found[i]?.start ?? end;
  let start = 0;
  return found.map((range, i) => {
    const isEnd = i === tokens.length - 1 && range === undefined && tokens[i]!.piece !== '<unk>';
    const next = nextStarts[i]!;
    const from = isEnd ? next : Math.min(start, next);
    const given = range ?? { start: from, end: tokens[i]!.piece === '▁' ? from : next };
    start = given.end;
    return given;
  });
}

/** The mean of the heads that align, [target, source]. */
function meanOf({ cross, decoder }: Attention): Float32Array {
  const { layers, heads, rows, columns } = cross;
  // A recurrent decoder has no maps: it is taken for that of a student, whose training guided head 0 of the last layer.
  const isStudent = !decoder?.data.length;
  const first = isStudent ? layers - 1 : Math.min(1, layers - 1);
  const used = isStudent ? 1 : heads;
  const data = new Float32Array(rows * columns);
  for (let layer = first; layer < layers; layer++) {
    for (let head = 0; head < used; head++) {
      cross.map(layer, head).forEach((value, i) => (data[i]! += value / ((layers - first) * used)));
    }
  }
  return data;
}

/** `attention` of the translation must be there, unless the text is empty. */
function align(text: string, { sourceTokens, targetTokens, text: target, attention, kept }: Translation): Alignment {
  if (!attention) return { source: [], target: [], data: new Float32Array() };
  return {
    source: locate(sourceTokens, text, kept.map(({ source }) => source)),
    target: locate(targetTokens, target, kept.map(({ target }) => target)),
    data: meanOf(attention),
  };
}

/** Beta calibration (Kull et al. 2017) with the three numbers in the model's metadata. */
function calibrationOf(metadata: Readonly<Record<string, string>>) {
  const [a = NaN, b = NaN, c = NaN] = (metadata.quality_calibration ?? '').split(' ').map(Number);
  if (!Number.isFinite(a + b + c)) return undefined;
  return (logProbability: number) => {
    const x = Math.min(logProbability, -1e-7);
    return 1 / (1 + Math.exp(-a * x + b * Math.log(-Math.expm1(x)) - c));
  };
}

/** Words are what white space separates, and each Han character or kana is one. */
function qualityOf(
  { text, targetTokens, kept }: Translation, probabilityOf?: (logProbability: number) => number,
): Quality {
  const alone = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
  const ranges = locate(targetTokens, text, kept.map(({ target }) => target));
  const words: (TextRange & { logProbability: number; count: number })[] = [];
  let spaces: number[] = []; // a space that is a token of its own counts for the word after it
  ranges.forEach(({ start, end }, i) => {
    const token = targetTokens[i]!;
    if (end === start) return void (token.piece === '▁' && spaces.push(token.logProbability));
    const last = words.at(-1);
    const count = spaces.length + 1;
    const logProbability = spaces.reduce((sum, value) => sum + value, token.logProbability) / count;
    spaces = [];
    const isAlone = (part: TextRange) => alone.test(text.slice(part.start, part.end));
    const isNext = last?.end === start && !isAlone({ start, end }) && !isAlone(last);
    const isSame = last && start < last.end; // another byte of a character
    if (!isNext && !isSame) return void words.push({ start, end, logProbability, count });
    last.logProbability = (last.logProbability * last.count + logProbability) / (last.count + 1);
    last.count++;
    last.end = Math.max(last.end, end);
  });
  const mean = (value: (logProbability: number) => number) =>
    words.reduce((total, word) => total + value(word.logProbability), 0) / Math.max(words.length, 1);
  const logProbability = mean((value) => value);
  return {
    logProbability,
    sentence: logProbability,
    ...(probabilityOf && { probability: mean(probabilityOf) }),
    words: words.map(({ start, end, logProbability }) =>
      ({ start, end, logProbability, ...(probabilityOf && { probability: probabilityOf(logProbability) }) })),
  };
}

/** Adds what is asked for; removes attention unless it was asked for. */
export function addTo(
  translations: Translation[], texts: readonly string[], { alignment, quality }: AlignmentOptions,
  keepsAttention: boolean,
  metadata: Readonly<Record<string, string>>,
): void {
  const probabilityOf = calibrationOf(metadata);
  translations.forEach((translation, i) => {
    if (quality) translation.quality = qualityOf(translation, probabilityOf);
    if (alignment) translation.alignment = align(texts[i]!, translation);
    if (!keepsAttention) delete translation.attention;
  });
}
