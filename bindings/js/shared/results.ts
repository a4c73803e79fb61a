// Translations as the caller gets them.
import type { PlainMaps, PlainTranslation } from './protocol.js';
import type { AttentionMaps, Translation } from './types.js';

export function toTranslation({ attention, ...rest }: PlainTranslation): Translation {
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
