// Results as the caller gets them.
import { WasmformerRangeError } from './errors.js';
import type { Plain } from './protocol.js';
import type { TrainingEvent } from './trainer-types.js';
import type { Annotation, AttentionMaps, Translation } from './types.js';

/**
 * Removes the properties of a result that are undefined, since optional ones are to be missing; returns the buffers of
 * its typed arrays, which may be moved instead of copied.
 */
export function tidy(value: unknown): ArrayBuffer[] {
  if (ArrayBuffer.isView(value)) return [value.buffer as ArrayBuffer];
  if (typeof value !== 'object' || value === null) return [];
  const buffers: ArrayBuffer[] = [];
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) delete value[key as keyof typeof value];
    else buffers.push(...tidy(item));
  }
  return buffers;
}

/** Adds what cannot be posted: map() of each attention. */
export function withMaps<Found extends Translation | Annotation>(plain: Plain<Found>[]): Found[] {
  for (const { attention } of plain) for (const maps of Object.values(attention ?? {})) addMap(maps as AttentionMaps);
  return plain as Found[];
}

/** The same for all translations and annotations of an event. */
export function eventWithMaps(plain: Plain<TrainingEvent>): TrainingEvent {
  const { validation, pinned = [], annotated = [] } = plain;
  const samples = validation?.samples.map(({ translation }) => translation) ?? [];
  const annotatedSamples = validation?.annotated?.map(({ annotation }) => annotation) ?? [];
  withMaps<Translation>([...pinned, ...samples]);
  withMaps<Annotation>([...annotated, ...annotatedSamples]);
  return plain as TrainingEvent;
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
