// Two fingers, or a trackpad's, enlarge a drawing and move it; once it is enlarged, one finger moves it.
export interface Lens {
  scale: number;
  x: number; // px
  y: number;
}
export const WHOLE: Lens = { scale: 1, x: 0, y: 0 };

const MOST = 5;
type Point = readonly [x: number, y: number];

/** Enlarged about a point and moved; the drawing, as large as its pane, still fills that. */
export function through({ scale, x, y }: Lens, factor: number, [px, py]: Point, [dx, dy]: Point, width: number, height: number): Lens {
  const next = Math.min(MOST, Math.max(1, scale * factor));
  const held = (at: number, old: number, by: number, size: number) =>
    Math.min(0, Math.max(size * (1 - next), at - ((at - old) * next) / scale + by));
  return { scale: next, x: held(px, x, dx, width), y: held(py, y, dy, height) };
}

export const pinched = (move: (factor: number, at: Point, by: Point) => void, isEnlarged: () => boolean) => (element: Element) => {
  type Fingers = { at: Point; spread: number; count: number };
  let before: Fingers | undefined;
  const within = ({ clientX, clientY }: { clientX: number; clientY: number }): Point => {
    const { left, top } = element.getBoundingClientRect();
    return [clientX - left, clientY - top];
  };
  function read({ touches }: TouchEvent): Fingers {
    // Not targetTouches, which has only those of the part of the drawing that was touched.
    const own = [...touches].filter(({ target }) => element.contains(target as Node));
    const [a, b = a] = own.map(within);
    return { at: [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2], spread: Math.hypot(a[0] - b[0], a[1] - b[1]), count: own.length };
  }
  const touch = (event: Event) => {
    const now = read(event as TouchEvent);
    if (event.type === 'touchmove' && before?.count === now.count && (now.count > 1 || isEnlarged())) {
      event.preventDefault(); // the page does not scroll
      move(now.spread && before.spread ? now.spread / before.spread : 1, before.at, [now.at[0] - before.at[0], now.at[1] - before.at[1]]);
    }
    before = now;
  };
  const wheel = (event: Event) => {
    const { ctrlKey, deltaY } = event as WheelEvent;
    if (!ctrlKey) return; // browsers say so for two fingers on a trackpad
    event.preventDefault();
    move(Math.exp(-deltaY / 100), within(event as WheelEvent), [0, 0]);
  };
  const all = [['touchstart', touch], ['touchmove', touch], ['wheel', wheel]] as const;
  for (const [name, listener] of all) element.addEventListener(name, listener, { passive: false });
  return () => all.forEach(([name, listener]) => element.removeEventListener(name, listener));
};
