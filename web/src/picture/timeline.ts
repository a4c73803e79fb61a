// The order in which the boxes compute in a step of decoding.
import { format, layersOf, partsOf, type Part, type Place, type Sizes, type Stack } from './place';

export interface Stage {
  box: string; // 'chart': the probabilities of the next token
  place: Place;
  time: number; // of 1, an attention's
}

const TIMES: Partial<Record<Part, number>> = { embed: 0.8, ffn: 0.8, linear: 0.7, softmax: 0.9, beam: 0.7 };
const NORM_TIME = 0.5;
const CHART_TIME = 0.7;

function stack(sizes: Sizes, name: Stack): Stage[] {
  const stage = (layer: number | undefined, part: Part): Stage => {
    const place = { stack: name, layer, part };
    return { box: format(place), place, time: TIMES[part] ?? (part.endsWith('orm') ? NORM_TIME : 1) };
  };
  const all = [stage(undefined, 'embed')];
  for (let layer = 0; layer < layersOf(sizes, name); ++layer) {
    const parts = [...partsOf(name, sizes)];
    // A pre-norm comes before its sublayer.
    if (sizes.norm === 'pre')
      for (let i = 0; i < parts.length; i += 2) [parts[i], parts[i + 1]] = [parts[i + 1], parts[i]];
    all.push(...parts.map((part) => stage(layer, part)));
  }
  if (sizes.norm === 'pre') all.push(stage(undefined, 'norm'));
  return all;
}

/** The encoder runs once, before the first token. */
export function stages(sizes: Sizes, step: number): Stage[] {
  const out = (part: Part): Stage => ({ box: `out.${part}`, place: { stack: 'out', part }, time: TIMES[part]! });
  return [
    ...(step === 0 ? stack(sizes, 'enc') : []),
    ...stack(sizes, 'dec'),
    out('linear'),
    out('softmax'),
    { box: 'chart', place: { stack: 'out', part: 'softmax' }, time: CHART_TIME },
    out('beam'),
  ];
}

export interface Moment {
  step: number;
  stage: number; // index into the step's stages; their number when the step is done
}

/** One box further or back; a finished step goes on to the next one. Null at either end. */
export function moved(sizes: Sizes, steps: number, { step, stage }: Moment, by: 1 | -1): Moment | null {
  const to = stage + by;
  if (to < 0) return step > 0 ? { step: step - 1, stage: stages(sizes, step - 1).length } : null;
  if (to <= stages(sizes, step).length) return { step, stage: to };
  return step + 1 < steps ? { step: step + 1, stage: 0 } : null;
}

const PACE = 700; // ms for an attention, at the first token
const LATER = 0.55; // later tokens go faster
const READING = 2600; // ms longer for the first box of each kind, so that its explanation can be read

export const SPEEDS = [0.25, 0.5, 1, 2] as const;

/** Milliseconds that a box is shown while the computation plays. */
export function lengthOf(stage: Stage | undefined, step: number, isNewKind: boolean, speed: number): number {
  const computing = PACE * (stage?.time ?? 1) * (step === 0 ? 1 : LATER);
  return (computing + (isNewKind ? READING : 0)) / speed;
}

/** Kind of a box: all boxes of one kind share one explanation. */
export const kindOf = ({ box, place: { stack, part } }: Stage) =>
  box === 'chart' ? box : `${stack === 'enc' ? 'enc' : 'dec'} ${part?.endsWith('Norm') ? 'norm' : part}`;
