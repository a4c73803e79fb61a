// The attention scale: the stops of the theme's --ramp (app.css), one hue, lightness monotonic, so that it reads
// without colour vision and in print.

export type Ramp = readonly (readonly [number, number, number])[];

export function readRamp(element: Element): Ramp {
  const stops = getComputedStyle(element).getPropertyValue('--ramp').split(',');
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
