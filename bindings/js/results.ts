// Translations in their three shapes: from the module, as a message, and for the caller.
import type { NativeBeamNode, NativeHypothesis, NativeTranslation } from './module.js';
import type { PlainMaps, PlainTranslation } from './protocol.js';
import type { AttentionMaps, BeamNode, Hypothesis, Translation } from './types.js';

function hypothesis({ text, score, targetTokens }: NativeHypothesis, withTop: boolean): Hypothesis {
  return {
    text,
    score,
    targetTokens: targetTokens.map(({ top, ...token }) => (withTop ? { ...token, top } : token)),
  };
}

// In the order of Fate in src/decode/search.h.
const fates: Pick<BeamNode, 'state' | 'reason'>[] = [
  { state: 'kept' },
  { state: 'ended' },
  { state: 'pruned', reason: 'beam' },
  { state: 'pruned', reason: 'score' },
  { state: 'pruned', reason: 'finished' },
];

function beamNode({ fate, hypothesis, ...node }: NativeBeamNode): BeamNode {
  return { ...node, ...fates[fate]!, ...(hypothesis >= 0 && { hypothesis }) };
}

export function fromNative(native: NativeTranslation, withTop: boolean): PlainTranslation {
  const { encoder, decoder, cross, beam, internals } = native;
  return {
    ...hypothesis(native, withTop),
    sourceTokens: native.sourceTokens.map(({ piece, id }) => ({ piece, id })),
    alternatives: native.alternatives.map((item) => hypothesis(item, withTop)),
    ...(encoder && decoder && cross && { attention: { encoder, decoder, cross } }),
    ...(beam.length > 0 && { beam: beam.map(beamNode) }),
    ...(internals && { internals }),
  };
}

/** The buffers that a message may move instead of copying: of every typed array in it, however deep. */
export function buffers(message: unknown): ArrayBuffer[] {
  if (ArrayBuffer.isView(message)) return [message.buffer as ArrayBuffer];
  return typeof message === 'object' && message !== null ? Object.values(message).flatMap(buffers) : [];
}

export function fromPlain({ attention, ...rest }: PlainTranslation): Translation {
  if (!attention) return rest;
  const { encoder, decoder, cross } = attention;
  return { ...rest, attention: { encoder: maps(encoder), decoder: maps(decoder), cross: maps(cross) } };
}

function maps(plain: PlainMaps): AttentionMaps {
  const { data, layers, heads, rows, columns } = plain;
  return {
    ...plain,
    map(layer, head) {
      const inside = (value: number, size: number) => Number.isInteger(value) && value >= 0 && value < size;
      if (!inside(layer, layers) || !inside(head, heads)) {
        throw new RangeError(`[attention] layer ${layer}, head ${head} is not in ${layers} layers of ${heads} heads`);
      }
      const begin = (layer * heads + head) * rows * columns;
      return data.subarray(begin, begin + rows * columns);
    },
  };
}
