// How a map is laid out and drawn, on a canvas and as SVG alike. Lengths are CSS pixels.
import { END_PIECE, entropy, startsWord, type AttentionMap } from './attention';
import { pixel, rampIndex, type Ramp } from './color';

export interface Pen {
  /** A grid of cells: the columns begin at `xs`, the rows at `ys`; `colour(i)` is that of the i-th cell, row by row. */
  cells(xs: readonly number[], ys: readonly number[], width: number, height: number,
    colour: (i: number) => Ramp[number]): void;
  rect(x: number, y: number, width: number, height: number, fill: string): void;
  /** Straight ones: x1, y1, x2, y2 each. */
  lines(all: readonly (readonly number[])[], stroke: string): void;
  /** From a point to one on its right, both ends level. */
  link(x1: number, y1: number, x2: number, y2: number, stroke: string, width: number, opacity: number): void;
  text(x: number, y: number, text: string, look: TextLook): void;
}

export interface TextLook {
  align?: 'left' | 'center' | 'right';
  slant?: number;
  fill: string;
}

export interface Typeface {
  family: string;
  size: number;
}

export type Form = 'heat' | 'lines';

/** Positions and sizes in a drawing. `xs` and `ys` hold one more position: the end of the last column or row. */
export interface Layout {
  form: Form;
  width: number;
  height: number;
  left: number;
  top: number;
  cell: number;
  line: number; // between neighboring labels, so that they do not overlap
  slant: number; // of the column labels; steeper for narrower columns
  rowHeight: number;
  bar: number; // the longest one of entropy
  xs: number[]; // of the columns, from `left`; all 0 as lines
  ys: number[]; // of the rows, from `top`
  columnYs: number[]; // as lines, where the columns' pieces stand
}

export interface Labels {
  rows: string[];
  columns: string[];
  entropy: string;
}

export interface Colours {
  ramp: Ramp;
  ink: string;
  muted: string;
  rule: string;
  attention: string;
  paper: string;
  heads: readonly string[];
}

/** All that a map is drawn from. */
export interface Drawing {
  layout: Layout;
  map: AttentionMap;
  masked?: boolean; // no row sees the columns after it: those are hatched
  /** Heads that are drawn as lines in colors of their own, instead of the map. */
  strands?: readonly { map: AttentionMap; head: number }[];
  faintest?: number; // weaker links are left out of the lines
  labels: Labels;
  colours: Colours;
  typeface: Typeface;
}

const SLANT = (48 * Math.PI) / 180; // the smallest slant
const [LEAST_LINE, LINE] = [15, 0.86]; // between neighboring labels: in pixels, and as a share of the page's type
const GAPS = [1, 5]; // between pieces of a word, and between words, in place of SentencePiece's marker
const FINE_GAPS = [0, 0];
const BAR_GAP = 12;
const FRAME = 3; // of a marked cell, below the last row
const MANY = 40; // pieces; a map of more is drawn finely, to be seen at once, and not every piece is written out
export const FAINTEST = 0.02;

/** Start of each piece, followed by the end of the last one. */
function places(pieces: readonly string[], size: number, gaps = GAPS): number[] {
  let at = 0;
  const starts = pieces.map((piece, i) => {
    if (i > 0) at += size + gaps[startsWord(piece) || piece === END_PIECE ? 1 : 0];
    return at;
  });
  return [...starts, at + size];
}

const LEAST_ROW = 11; // pixels
/** n, if only every n-th column has room for a label. */
const every = (cell: number, line: number) => Math.ceil((line - 1) / cell);

/** `room` is the width that there is; a heat map of many columns takes more. Its rows get lower to fit into `tall`. */
export function layOut(
  form: Form, rows: readonly string[], columns: readonly string[], labels: Labels,
  measure: (text: string) => number, room: number, rem: number, tall = Infinity,
): Layout {
  const left = Math.ceil(Math.max(...labels.rows.map(measure))) + 12;
  const widths = labels.columns.map(measure);
  const fine = Math.max(rows.length, columns.length) > MANY;
  const line = Math.max(LEAST_LINE, LINE * rem);
  if (form === 'lines') {
    const rowHeight = Math.round((fine ? 1.2 : 1.75) * rem);
    const right = Math.ceil(Math.max(...widths)) + 12;
    const between = Math.min(Math.max(6 * rem, room - left - right), 22 * rem);
    const [ys, columnYs] = [places(rows, rowHeight), places(columns, rowHeight)];
    const height = Math.max(ys.at(-1)!, columnYs.at(-1)!);
    const xs = [...columns.map(() => 0), between];
    const width = left + between + right;
    return { form, width, height, left, top: 0, cell: between, line, slant: 0, rowHeight, bar: 0, xs, ys, columnYs };
  }
  const bar = room < 30 * rem ? 26 : 44;
  const overhangAt = (cell: number, slant = SLANT) => Math.max(
    BAR_GAP + Math.max(bar, 4 + measure(labels.entropy) * Math.cos(slant) + 6),
    ...widths.map((w, j) => w * Math.cos(slant) - (columns.length - 1 - j) * cell));
  const least = fine ? 4 : line - 1;
  const gaps = fine ? FINE_GAPS : GAPS;
  const fitting = (room - left - overhangAt(least) - places(columns, 0, gaps).at(-1)!) / columns.length;
  const cell = Math.min(2.6 * rem, Math.max(least, Math.floor(fitting)));
  const slant = Math.max(SLANT, Math.asin(Math.min(1, line / (every(cell, line) * cell + gaps[0]))));
  const top = Math.ceil(Math.max(...widths, measure(labels.entropy)) * Math.sin(slant) + rem * Math.cos(slant) + 8);
  const fair = fine ? Math.min(18, cell + 1) : Math.min(2.3 * rem, Math.max(24, cell));
  const low = Math.floor((tall - top - FRAME - places(rows, 0, gaps).at(-1)!) / rows.length);
  const rowHeight = Math.min(fair, Math.max(LEAST_ROW, low));
  const [xs, ys] = [places(columns, cell, gaps), places(rows, rowHeight, gaps)];
  const width = Math.floor(left + xs.at(-1)! + overhangAt(cell, slant));
  const height = top + ys.at(-1)! + FRAME;
  return { form, width, height, left, top, cell, line, slant, rowHeight, bar, xs, ys, columnYs: [] };
}

/** Slanting lines within a rectangle. */
function hatching(x: number, y: number, width: number, height: number): number[][] {
  const all = [];
  for (let at = x - height + 3; at < x + width; at += 6) {
    const [before, after] = [Math.max(0, x - at), Math.max(0, at + height - x - width)];
    all.push([at + before, y + height - before, at + height - after, y + after]);
  }
  return all;
}

export function draw(pen: Pen, drawing: Drawing) {
  const { layout, map, masked, labels, colours } = drawing;
  const { form, left, top, cell, line, slant, rowHeight, bar, xs, ys } = layout;
  const [rowStep, columnStep] = [Math.ceil((line - 2) / rowHeight), form === 'lines' ? 1 : every(cell, line)];
  for (let r = 0; r < map.rows; r += rowStep) drawRowLabel(pen, layout, r, labels, colours.muted);
  for (let c = 0; c < map.columns; c += columnStep) drawColumnLabel(pen, layout, c, labels, colours.muted);
  if (form === 'lines') {
    for (let r = 0; r < map.rows; ++r) drawLinks(pen, drawing, r);
    return;
  }
  const cellXs = xs.slice(0, -1).map((x) => left + x);
  const cellYs = ys.slice(0, -1).map((y) => top + y);
  pen.cells(cellXs, cellYs, cell, rowHeight, (i) => colours.ramp[rampIndex(map.data[i])]);
  for (let r = 0; masked && r < map.rows - 1; ++r) {
    const [x, y, width] = [cellXs[r + 1], cellYs[r], xs.at(-1)! - xs[r + 1]];
    pen.rect(x, y, width, rowHeight, colours.paper);
    pen.lines(hatching(x, y, width, rowHeight), colours.rule);
  }
  // The rows' entropy, each bar as a share of the greatest possible one.
  const at = left + xs.at(-1)! + BAR_GAP;
  pen.text(at + 4, top - 6, labels.entropy, { slant, fill: colours.muted });
  const most = Math.log2(Math.max(2, map.columns));
  const thick = Math.min(4, rowHeight - 2);
  for (let r = 0; r < map.rows; ++r) {
    const y = top + ys[r] + (rowHeight - thick) / 2;
    pen.rect(at, y, bar, thick, colours.rule);
    pen.rect(at, y, (bar * entropy(map, r)) / most, thick, colours.muted);
  }
}

export function drawRowLabel(pen: Pen, layout: Layout, row: number, labels: Labels, fill: string) {
  const { left, top, ys, rowHeight } = layout;
  pen.text(left - 8, top + ys[row] + rowHeight / 2, labels.rows[row], { align: 'right', fill });
}

export function drawColumnLabel(pen: Pen, layout: Layout, column: number, labels: Labels, fill: string) {
  const { form, left, top, xs, columnYs, cell, slant, rowHeight } = layout;
  const [x, y] =
    form === 'lines'
      ? [left + cell + 8, columnYs[column] + rowHeight / 2]
      : [left + xs[column] + cell / 2, top - 6];
  pen.text(x, y, labels.columns[column], { slant, fill });
}

/** The links of one row; of one cell when there is `only` its column. */
export function drawLinks(pen: Pen, drawing: Drawing, row: number, only?: number) {
  const { layout, map, strands, faintest = FAINTEST, colours } = drawing;
  const { left, cell, rowHeight, ys, columnYs } = layout;
  const all = strands?.map((strand) => ({ ...strand, colour: colours.heads[strand.head % colours.heads.length] }))
    ?? [{ map, colour: colours.attention }];
  all.forEach(({ map: { data, columns }, colour }, i) => {
    // Side by side, or the last head would hide those before it.
    const y = rowHeight / 2 + (i - (all.length - 1) / 2) * Math.min(3, rowHeight / (all.length + 1));
    for (let c = 0; c < columns; ++c) {
      const weight = data[row * columns + c];
      if (weight < faintest || (only !== undefined && c !== only)) continue;
      pen.link(left, ys[row] + y, left + cell, columnYs[c] + y, colour, 0.75 + 3.25 * weight, 0.15 + 0.85 * weight);
    }
  });
}

/** Finds the cell at a point, or the row or column whose label is there. */
export function locate(layout: Layout, x: number, y: number): { row: number | null; column: number | null } {
  const { form, left, top, xs, ys, columnYs, cell, slant } = layout;
  const find = (starts: number[], at: number) => Math.max(0, starts.slice(0, -1).findLastIndex((start) => start <= at));
  if (form === 'lines') {
    if (x > left + cell / 2) return { row: null, column: find(columnYs, y) };
    return { row: find(ys, y), column: null };
  }
  const slanted = x - left - Math.max(0, top - y) / Math.tan(slant);
  if (y < top) return slanted < 0 || slanted > xs.at(-1)! ? { row: null, column: null }
    : { row: null, column: find(xs, slanted) };
  if (x < left || x > left + xs.at(-1)!) return { row: find(ys, y - top), column: null };
  return { row: find(ys, y - top), column: find(xs, x - left) };
}

/** Vertical offset of a text from its anchor; slanted text is centred over its column. */
const below = (slant: number) => (slant ? 1 - 7.5 * Math.cos(slant) : 1);

/** Sizes a canvas for a layout, which empties it. */
export function prepare(canvas: HTMLCanvasElement | OffscreenCanvas, { width, height }: Layout, typeface: Typeface,
  ratio: number) {
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  return { context, pen: canvasPen(context, typeface, ratio) };
}

function canvasPen(context: CanvasRenderingContext2D, typeface: Typeface, ratio: number): Pen {
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = `${typeface.size}px ${typeface.family}`;
  context.textBaseline = 'middle';
  const snap = (length: number) => Math.round(length * ratio) / ratio; // or thin seams show between cells
  return {
    // One pixel per cell, then columns and rows are stretched: far quicker than a rectangle for each cell.
    cells(xs, ys, width, height, colour) {
      const pixels = new ImageData(xs.length, ys.length);
      const bytes = new Uint32Array(pixels.data.buffer);
      for (let i = 0; i < bytes.length; ++i) bytes[i] = pixel(colour(i));
      const small = new OffscreenCanvas(xs.length, ys.length);
      small.getContext('2d')!.putImageData(pixels, 0, 0);
      const [left, right] = [snap(xs[0]), snap(xs.at(-1)! + width)];
      const wide = new OffscreenCanvas(Math.round((right - left) * ratio), ys.length);
      const wideContext = wide.getContext('2d')!;
      wideContext.imageSmoothingEnabled = context.imageSmoothingEnabled = false;
      xs.forEach((x, c) => {
        const from = Math.round((snap(x) - left) * ratio);
        wideContext.drawImage(small, c, 0, 1, ys.length, from, 0, Math.round((snap(x + width) - left) * ratio) - from,
          ys.length);
      });
      ys.forEach((y, r) => context.drawImage(wide, 0, r, wide.width, 1, left, snap(y), right - left,
        snap(y + height) - snap(y)));
    },
    rect(x, y, width, height, fill) {
      context.fillStyle = fill;
      context.fillRect(snap(x), snap(y), snap(x + width) - snap(x), snap(y + height) - snap(y));
    },
    lines(all, stroke) {
      context.strokeStyle = stroke;
      context.lineWidth = 1;
      context.beginPath();
      for (const [x1, y1, x2, y2] of all) {
        context.moveTo(x1, y1);
        context.lineTo(x2, y2);
      }
      context.stroke();
    },
    link(x1, y1, x2, y2, stroke, width, opacity) {
      context.globalAlpha = opacity;
      context.strokeStyle = stroke;
      context.lineWidth = width;
      context.beginPath();
      context.moveTo(x1, y1);
      context.bezierCurveTo((x1 + x2) / 2, y1, (x1 + x2) / 2, y2, x2, y2);
      context.stroke();
      context.globalAlpha = 1;
    },
    text(x, y, text, { align = 'left', slant = 0, fill }) {
      context.fillStyle = fill;
      context.textAlign = align;
      context.save();
      context.translate(x, y);
      context.rotate(-slant);
      context.fillText(text, 0, below(slant));
      context.restore();
    },
  };
}

/** A drawing as the text of an SVG file. */
export function svgTextOf(drawing: Drawing): string {
  const { layout, colours, typeface } = drawing;
  const pen = svgPen(typeface);
  draw(pen, drawing);
  return pen.svg(layout.width, layout.height, colours.paper);
}

/** A pen whose `svg` gives the drawing as a file. */
function svgPen(typeface: Typeface): Pen & { svg(width: number, height: number, paper: string): string } {
  const parts: string[] = [];
  const plain = (text: string) => text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
  const n = (value: number) => String(Math.round(value * 100) / 100);
  const anchors = { left: 'start', center: 'middle', right: 'end' };
  const rect: Pen['rect'] = (x, y, width, height, fill) =>
    void parts.push(`<rect x="${n(x)}" y="${n(y)}" width="${n(width)}" height="${n(height)}" fill="${fill}"/>`);
  return {
    cells: (xs, ys, width, height, colour) =>
      ys.forEach((y, r) => xs.forEach((x, c) => rect(x, y, width, height, `rgb(${colour(r * xs.length + c)})`))),
    rect,
    lines(all, stroke) {
      const path = all.map(([x1, y1, x2, y2]) => `M${n(x1)} ${n(y1)}L${n(x2)} ${n(y2)}`).join('');
      parts.push(`<path d="${path}" stroke="${stroke}"/>`);
    },
    link(x1, y1, x2, y2, stroke, width, opacity) {
      const middle = n((x1 + x2) / 2);
      const path = `M${n(x1)} ${n(y1)}C${middle} ${n(y1)} ${middle} ${n(y2)} ${n(x2)} ${n(y2)}`;
      const look = `fill="none" stroke="${stroke}" stroke-width="${n(width)}" opacity="${n(opacity)}"`;
      parts.push(`<path d="${path}" ${look}/>`);
    },
    text(x, y, text, { align = 'left', slant = 0, fill }) {
      const transform = `translate(${n(x)} ${n(y)}) rotate(${n((-slant * 180) / Math.PI)})`;
      const place = `transform="${transform}" y="${n(below(slant))}"`;
      const look = `dominant-baseline="middle" text-anchor="${anchors[align]}" fill="${fill}"`;
      parts.push(`<text ${place} ${look}>${plain(text)}</text>`);
    },
    svg(width, height, paper) {
      const [w, h] = [n(width), n(height)];
      const size = `width="${w}" height="${h}" viewBox="0 0 ${w} ${h}"`;
      const font = `font-family="${plain(typeface.family)}" font-size="${n(typeface.size)}"`;
      const ground = `<rect width="100%" height="100%" fill="${paper}"/>`;
      return `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${font}>${ground}${parts.join('')}</svg>\n`;
    },
  };
}
