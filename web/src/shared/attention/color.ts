// The scales: the stops of the theme's --ramp (basics.css), one hue, lightness monotonic, so that it reads without
// color vision and in print; and of --signed, for numbers below and above 0.

/** How many --head-1, --head-2, … a theme has; further heads begin again with the first. */
export const HEAD_COLOURS = 8;

export type Ramp = readonly (readonly [number, number, number])[];

/** The scale as it is where an element stands. */
export function readRamp(element: Element, name: '--ramp' | '--signed' = '--ramp'): Ramp {
  const stops = getComputedStyle(element).getPropertyValue(name).split(',');
  const rgb = stops.map((hex) => [1, 3, 5].map((i) => parseInt(hex.trim().slice(i, i + 2), 16)));
  return Array.from({ length: 256 }, (_, k) => {
    const place = (k / 255) * (rgb.length - 1);
    const low = Math.min(Math.floor(place), rgb.length - 2);
    const mix = (c: number) => Math.round(rgb[low][c] + (rgb[low + 1][c] - rgb[low][c]) * (place - low));
    return [mix(0), mix(1), mix(2)] as const;
  });
}

export function rampIndex(weight: number): number {
  return Math.round(Math.min(1, Math.max(0, weight)) * 255);
}

/** A color as image data have it. */
export function pixel([red, green, blue]: Ramp[number]): number {
  return 0xff000000 | (blue << 16) | (green << 8) | red;
}

/** Draws one pixel for each number; `share` gives its place on the ramp. */
export function paintPixels(
  canvas: HTMLCanvasElement,
  ramp: Ramp,
  numbers: { data: ArrayLike<number>; rows: number; columns: number },
  share = (x: number) => x,
) {
  const pixels = new Uint32Array(numbers.data.length);
  for (let i = 0; i < pixels.length; ++i) pixels[i] = pixel(ramp[rampIndex(share(numbers.data[i]))]);
  canvas.width = numbers.columns;
  canvas.height = numbers.rows;
  const image = new ImageData(new Uint8ClampedArray(pixels.buffer), numbers.columns, numbers.rows);
  canvas.getContext('2d')!.putImageData(image, 0, 0);
}
