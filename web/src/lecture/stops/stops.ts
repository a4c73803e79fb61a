// The stops of the lecture: each a section of the paper with a claim, a figure and a question.

export const CHOICES = ['a', 'b', 'c'] as const;
export type Answer = (typeof CHOICES)[number];

export interface Stop {
  id: StopId;
  section: string; // of the paper
  right: Answer;
  see?: string; // where the picture of the model shows the same
  experiment?: string; // of the laboratory, about the same
}

const all = [
  ['shifted', '3.1', 'b', 'picture?at=dec.embed'],
  ['residual', '3.1', 'a', 'picture?at=enc.1.selfNorm', 'residual'],
  ['norm', '3.1', 'c', 'picture?at=enc', 'norm'],
  ['order', '3.2', 'b', 'picture?at=enc.embed', 'positions'],
  ['scale', '3.2.1', 'c', 'picture?at=dec.3.cross.h4.1-1', 'scale'],
  ['qkv', '3.2.2', 'a', 'picture?at=enc.2.self.h3'],
  ['heads', '3.2.2', 'b', 'picture?at=dec.3.cross', 'heads'],
  ['mask', '3.2.3', 'a', 'picture?at=dec.1.self', 'mask'],
  ['padding', '3.2.3', 'c', undefined],
  ['parameters', '3.3', 'b', 'picture?at=enc.1.ffn'],
  ['embedding', '3.4', 'a', 'picture?at=enc.embed'],
  ['add', '3.5', 'c', undefined],
  ['sines', '3.5', 'b', undefined, 'positions'],
  ['table1', '4', 'a', undefined],
  ['tokens', '5.1', 'b', undefined],
  ['cost', '5.2', 'c', undefined],
  ['warmup', '5.3', 'b', undefined, 'warmup'],
  ['smoothing', '5.4', 'a', undefined, 'smoothing'],
  ['beam', '6.1', 'c', 'beam'],
  ['table3', '6.2', 'a', undefined, 'table-3'],
] as const satisfies readonly (readonly [string, string, Answer, string | undefined, string?])[];

export type StopId = (typeof all)[number][0];

export const STOPS: readonly Stop[] = all.map(([id, section, right, see, experiment]) => ({
  id,
  section,
  right,
  see,
  experiment,
}));
/** Stops about what the paper does not say, beside one of its sections. */
export const BESIDE: readonly StopId[] = ['padding'];
/** The page before the stops, which shows the whole. */
export const START = 'start';
/** The last page, which sums up. */
export const END = 'end';
