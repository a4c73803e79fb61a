// Curves of the arms as data: a line for each, a band around it once there are several seeds, and a label at its end.
import type { Ablation, Metric } from './ablation';
import { isOver, type Point, type Trial } from './trials';

export type Dot = readonly [step: number, value: number];

export interface Curve {
  arm: string;
  /** The mean of the seeds that are done, or the first seed until one is. */
  line: readonly Dot[];
  /** The lowest and the highest of the seeds that are done. */
  band: readonly (readonly [step: number, low: number, high: number])[];
  /** Seeds that are under way beside those that are done. */
  faint: readonly (readonly Dot[])[];
}

/** Values of a chart: the loss of training, or a score on the validation pairs. */
export type Shown = 'training' | Metric;

export function dotsOf(points: readonly Point[], shown: Shown): Dot[] {
  const valueOf = ({ loss, scores }: Point) => (shown === 'training' ? loss : scores?.[shown]);
  return points.flatMap((point): Dot[] => {
    const value = valueOf(point);
    return value === undefined ? [] : [[point.step, value]];
  });
}

function curveOf(arm: string, trials: readonly Trial[], shown: Shown): Curve {
  const own = trials.filter((trial) => trial.arm === arm && trial.points.length > 0);
  const done = own.filter(isOver).map(({ points }) => dotsOf(points, shown));
  const running = own.filter((trial) => !isOver(trial)).map(({ points }) => dotsOf(points, shown));
  if (done.length === 0) return { arm, line: running[0] ?? [], band: [], faint: running.slice(1) };
  const steps = [...new Set(done.flat().map(([step]) => step))].sort((a, b) => a - b);
  const valuesAt = (step: number) =>
    done.flatMap((dots) => dots.filter(([at]) => at === step).map(([, value]) => value));
  const line = steps.map((step): Dot => {
    const values = valuesAt(step);
    return [step, values.reduce((sum, value) => sum + value, 0) / values.length];
  });
  const band = done.length < 2 ? [] : steps.map((step) => {
    const values = valuesAt(step);
    return [step, Math.min(...values), Math.max(...values)] as const;
  });
  return { arm, line, band, faint: running };
}

export const curvesOf = ({ arms }: Ablation, trials: readonly Trial[], shown: Shown): Curve[] =>
  arms.map(({ id }) => curveOf(id, trials, shown));

/** The top of the scale: 100 for what is a percentage, else a round number above all that is shown. */
export function topOf(curves: readonly Curve[], shown: Shown): number {
  if (shown === 'exactMatch') return 100;
  const values = curves.flatMap(({ line, band, faint }) =>
    [...line, ...faint.flat()].map(([, value]) => value).concat(band.map(([, , high]) => high)));
  const most = Math.max(...values.filter(Number.isFinite), 0);
  if (most === 0) return 1;
  const unit = 10 ** Math.floor(Math.log10(most));
  return [1, 1.5, 2, 3, 4, 5, 7.5, 10].map((part) => part * unit).find((value) => value >= most)!;
}

/** Marks on a scale from 0 to `top`. */
export const marks = (top: number) => [0, 1, 2, 3, 4].map((part) => (part * top) / 4);

/**
 * Middles of labels so that none lies on another: as near as possible to where they should be, from top to bottom in
 * the same order, within `height`. All in the same unit.
 */
export function spread(wanted: readonly number[], gap: number, height: number): number[] {
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a] - wanted[b] || a - b);
  const places = [...wanted];
  let least = gap / 2;
  for (const i of order) {
    places[i] = Math.max(places[i], least);
    least = places[i] + gap;
  }
  let most = height - gap / 2;
  for (const i of order.toReversed()) {
    places[i] = Math.min(places[i], most);
    most = places[i] - gap;
  }
  return places;
}
