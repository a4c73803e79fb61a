// Residual connections and the place of the norm: gradients in a stack of feed-forward sublayers with random weights.
import { dot, rootMeanSquare, transposed, type Matrix } from './matrix';
import { normalMatrix } from './random';

export const WIDTH = 24;
const INNER = 48;
const NORM_EPSILON = 1e-8;

export interface Setting {
  layers: number;
  residual: boolean;
  norm: 'none' | 'post' | 'pre';
}

type Vector = readonly number[];

/** Matrices of the layers that were asked for; making them takes longer than all products. */
const made = new Map<number, Matrix>();
function weights(rows: number, columns: number, seed: number): Matrix {
  const matrix = made.get(seed) ?? normalMatrix(rows, columns, Math.sqrt(1 / columns), seed);
  made.set(seed, matrix);
  return matrix;
}

const times = (matrix: Matrix, vector: Vector) => matrix.map((row) => dot(row, vector));
const plus = (a: Vector, b: Vector) => a.map((value, i) => value + b[i]);

/** A value that knows how to carry a gradient back. */
interface Step {
  value: number[];
  back: (gradient: Vector) => number[];
}

/** W₂ relu(W₁ x), equation 2 without biases. */
function feedForward(x: Vector, layer: number): Step {
  const first = weights(INNER, WIDTH, 2 * layer + 1);
  const second = weights(WIDTH, INNER, 2 * layer + 2);
  const inner = times(first, x).map((value) => Math.max(0, value));
  return {
    value: times(second, inner),
    back: (gradient) =>
      times(transposed(first), times(transposed(second), gradient).map((value, i) => (inner[i] > 0 ? value : 0))),
  };
}

/** Layer norm without its scale and shift. */
export function normalize(x: Vector): Step {
  const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
  const centered = x.map((value) => value - mean);
  const deviation = Math.sqrt(dot(centered, centered) / x.length + NORM_EPSILON);
  const value = centered.map((one) => one / deviation);
  return {
    value,
    back(gradient) {
      const average = gradient.reduce((sum, one) => sum + one, 0) / x.length;
      const along = dot(gradient, value) / x.length;
      return gradient.map((one, i) => (one - average - value[i] * along) / deviation);
    },
  };
}

function through(first: Step, second: (x: Vector) => Step): Step {
  const then = second(first.value);
  return { value: then.value, back: (gradient) => first.back(then.back(gradient)) };
}

function sublayer(x: Vector, layer: number, { residual, norm }: Setting): Step {
  const self: Step = { value: [...x], back: (gradient) => [...gradient] };
  const changed = norm === 'pre' ? through(normalize(x), (y) => feedForward(y, layer)) : feedForward(x, layer);
  const sum: Step = residual
    ? { value: plus(x, changed.value), back: (gradient) => plus(self.back(gradient), changed.back(gradient)) }
    : changed;
  return norm === 'post' ? through(sum, normalize) : sum;
}

/** Inputs that the sizes are taken over. */
const INPUTS = 8;
const START_SEED = 10_001;
const JUDGE_SEED = 10_002;
const starts = normalMatrix(INPUTS, WIDTH, 1, START_SEED);
const towards = normalMatrix(1, WIDTH, 1, JUDGE_SEED)[0];

function run(setting: Setting, x: Vector) {
  const steps: Step[] = [];
  let value: Vector = x;
  for (let layer = 0; layer < setting.layers; layer++) {
    steps.push(sublayer(value, layer, setting));
    value = steps[layer].value;
  }
  const last = setting.norm === 'pre' ? normalize(value) : null; // pre-norm ends with one more norm
  return { steps, last, value: last?.value ?? value };
}

/** A number that the stack's output is judged by, as a loss would. */
export const judge = (setting: Setting, x: Vector) => dot(run(setting, x).value, towards);

/** Gradient of that number at the input of each layer, the first layer first. */
export function gradients(setting: Setting, x: Vector): number[][] {
  const { steps, last } = run(setting, x);
  let gradient = last ? last.back(towards) : [...towards];
  const all: number[][] = [];
  for (const step of steps.toReversed()) {
    gradient = step.back(gradient);
    all.unshift(gradient);
  }
  return all;
}

/** Usual size, over several inputs, of the gradient at the input of each layer and of the numbers that leave it. */
export function sizesOf(setting: Setting): { gradients: number[]; values: number[] } {
  const backward = starts.map((x) => gradients(setting, x));
  const forward = starts.map((x) => run(setting, x).steps.map(({ value }) => value));
  const sizes = (all: readonly (readonly Vector[])[]) =>
    all[0].map((_, layer) => rootMeanSquare(all.flatMap((one) => one[layer])));
  return { gradients: sizes(backward), values: sizes(forward) };
}
