// Results as the caller gets them.
import { WasmformerRangeError } from './errors.js';
import type { Plain } from './protocol.js';
import type { AttentionMaps } from './types.js';

/** Adds what cannot be posted: map() of each attention. */
export function withMaps<T>(plain: Plain<T>): T {
  if (typeof plain !== 'object' || plain === null || ArrayBuffer.isView(plain)) return plain as T;
  Object.values(plain).forEach(withMaps);
  if ('heads' in plain) addMap(plain as unknown as AttentionMaps);
  return plain as T;
}

function addMap(maps: AttentionMaps): void {
  const { data, layers, heads, rows, columns } = maps;
  const map: AttentionMaps['map'] = (layer, head) => {
    const inside = (value: number, size: number) => Number.isInteger(value) && value >= 0 && value < size;
    if (!inside(layer, layers) || !inside(head, heads)) {
      throw new WasmformerRangeError('attention', `layer ${layer}, head ${head} is not in ${layers} layers of ${heads} heads`);
    }
    const begin = (layer * heads + head) * rows * columns;
    return data.subarray(begin, begin + rows * columns);
  };
  // Not enumerable, so that a translation can be posted and stored: structuredClone() refuses functions.
  Object.defineProperty(maps, 'map', { value: map, configurable: true });
}
