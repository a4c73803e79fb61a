/** Room that a drawing has, in px. */
export interface Room {
  width: number;
  height: number;
  font: number; // size of its text
  wide: boolean; // two drawings fit beside each other
}

/** Px that a text of `characters` takes, about: Chinese characters are twice as wide as Latin ones. */
export function textWidth(text: string, font: number): number {
  const wide = text.match(/[\p{Script=Han}，。：；（）]/gu)?.length ?? 0;
  return font * (wide + 0.55 * (text.length - wide));
}

/** Place of a pointer in the units of the drawing that it is over. */
export function pointOf(event: PointerEvent): DOMPoint {
  const drawing = event.currentTarget as SVGSVGElement;
  return new DOMPoint(event.clientX, event.clientY).matrixTransform(drawing.getScreenCTM()!.inverse());
}

/** About `count` round numbers from `from` to `to`, at least `least` apart. */
export function ticks(from: number, to: number, count: number, least = 0): number[] {
  const rough = Math.max(least, (to - from) / count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  const all: number[] = [];
  // Added 0 turns −0 into 0.
  for (let at = Math.ceil(from / step - 1e-9) + 0; at * step <= to + step * 1e-9; at++) all.push(at * step);
  return all;
}

/** Powers of ten from `from` to `to`, at most `count` of them. */
export function powers(from: number, to: number, count: number): number[] {
  const [first, last] = [Math.ceil(Math.log10(from) - 1e-9), Math.floor(Math.log10(to) + 1e-9)];
  const stride = Math.max(1, Math.ceil((last - first + 1) / count));
  const all: number[] = [];
  for (let power = first; power <= last; power += stride) all.push(10 ** power);
  return all;
}

/** Moves places apart until neighbors are `gap` from each other; their order stays. */
export function apart(places: readonly number[], gap: number, least: number, most: number): number[] {
  const order = places.map((_, i) => i).sort((a, b) => places[a] - places[b]);
  const moved = [...places];
  for (const [rank, i] of order.entries()) {
    const floor = rank === 0 ? least : moved[order[rank - 1]] + gap;
    moved[i] = Math.max(moved[i], floor);
  }
  let ceiling = most;
  for (const i of order.toReversed()) {
    moved[i] = Math.min(moved[i], ceiling);
    ceiling = moved[i] - gap;
  }
  return moved;
}
