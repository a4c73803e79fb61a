// Table 1: what a layer costs for n positions of width d.
export const LAYERS = ['attention', 'recurrent', 'convolution', 'restricted'] as const;
export type Layer = (typeof LAYERS)[number];

export interface Sizes {
  n: number;
  d: number;
  kernel: number;
  reach: number; // positions that restricted attention sees
}

export const KERNEL = 3;
export const REACH = 64;

/** The order of the number of operations. */
export const operations = (layer: Layer, { n, d, kernel, reach }: Sizes) =>
  ({
    attention: n * n * d,
    recurrent: n * d * d,
    convolution: kernel * n * d * d,
    restricted: Math.min(reach, n) * n * d,
  })[layer];

/** Operations that must wait for each other. */
export const sequential = (layer: Layer, n: number) => (layer === 'recurrent' ? n : 1);

/** Layers that a signal passes from the first position to the last; log base k for dilated kernels. */
export function path(layer: Layer, { n, kernel, reach }: Sizes): number {
  const way = {
    attention: 1,
    recurrent: n,
    convolution: Math.log(n) / Math.log(kernel),
    restricted: n / reach,
  }[layer];
  return Math.max(1, way);
}

/** Each of the above as the paper's table has it; k is the width of a kernel, r what restricted attention sees. */
export const FORMULAS = {
  operations: { attention: 'n²·d', recurrent: 'n·d²', convolution: 'k·n·d²', restricted: 'r·n·d' },
  path: { attention: '1', recurrent: 'n', convolution: 'logₖ n', restricted: 'n/r' },
  sequential: { attention: '1', recurrent: 'n', convolution: '1', restricted: '1' },
} as const satisfies Record<string, Record<Layer, string>>;
