// Tokens in rows, as wide as their texts.
export interface Chip {
  index: number; // of the token; -1 for the sign that some are left out
  x: number;
  y: number;
  width: number;
}

const GAP = 7;
const LEAST = 0.62;

/** `widths` at full size. All in two rows at most: first smaller, then without those in the middle. */
export function chips(widths: readonly number[], room: number, line: number): { scale: number; chips: Chip[] } {
  const pack = (scale: number, left: readonly number[]) => {
    const rows: Chip[][] = [[]];
    let x = 0;
    for (const index of left) {
      const width = (index < 0 ? 14 : widths[index]) * scale;
      if (x > 0 && x + width > room) {
        rows.push([]);
        x = 0;
      }
      rows.at(-1)!.push({ index, x, y: (rows.length - 1) * line, width });
      x += width + GAP * scale;
    }
    return rows;
  };
  const all = widths.map((_, i) => i);
  let scale = 1;
  let rows = pack(scale, all);
  while (rows.length > 2 && scale > LEAST) rows = pack((scale -= 0.06), all);
  for (let left = all; rows.length > 2 && left.length > 3;) {
    const middle = Math.floor(left.length / 2);
    left = [...left.slice(0, middle - 1), -1, ...left.slice(left[middle] < 0 ? middle + 2 : middle + 1)];
    left = left.filter((index, i) => index >= 0 || left[i - 1] !== -1);
    rows = pack(scale, left);
  }
  const offset = rows.length === 1 ? line / 2 : 0;
  const chips = rows.flatMap((row) => {
    const shift = (room - (row.at(-1)!.x + row.at(-1)!.width)) / 2;
    return row.map((chip) => ({ ...chip, x: chip.x + shift, y: chip.y + offset }));
  });
  return { scale, chips };
}
