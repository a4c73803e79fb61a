// Layout of figure 1 of "Attention Is All You Need" for a model's sizes. Lengths are units of the drawing; y grows
// downwards, as on the screen, and the computation goes upwards, as in the paper.
import { format, isUnit, type Part, type Place, type Sizes, type Stack } from './place';

export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

export type Kind = 'stack' | 'layer' | 'attention' | 'unit' | 'ffn' | 'norm' | 'embed' | 'output';

export interface Box extends Rect {
  id: string;
  place: Place;
  kind: Kind;
}

export type Point = readonly [x: number, y: number];

/** A connector, along which numbers go into the box `to`. */
export interface Wire {
  from: string;
  to: string;
  points: Point[];
  kind: 'flow' | 'residual' | 'memory' | 'loop';
}

export interface Geometry {
  width: number;
  height: number;
  boxes: Box[];
  wires: Wire[];
  /** Points at which two vectors are added: below the first layer, and in pre-norm models after each sublayer. */
  sums: Point[];
  /** Labels of the arrows into an attention. */
  marks: { at: Point; text: 'Q' | 'K' | 'V' }[];
  /** The signs of the positional encoding, with the side on which its name stands. */
  waves: { at: Point; side: -1 | 1 }[];
  tokens: { enc: Rect; dec: Rect };
  /** The bars of the next token. */
  chart: Rect;
  /** Free for the sentence and its translation; null where there is no room. */
  plaque: Rect | null;
}

const COLUMN = 416; // width of a stack
const RAIL = 26; // between the frame of a layer and its boxes, for the residual connection
const MARGIN = 30; // beside a stack, for the names of its layers
const GAP = 96; // between the stacks
const SUBLAYER = 32; // least height
const NORM = 16;
const FORK = 15; // below a sublayer, for the arrows of Q, K and V
const CLOSE = 5; // between a sublayer and its Add & Norm
const PAD = 7;
const BETWEEN = 9; // two layers
const TOKENS = 46; // two lines
const EMBED = 28;
const SUM = 8; // radius
const HEAD_ROOM = 24; // above a stack, for its name
const OUTPUT = 25;
const CHART = 84;
const MOST_STRETCH = 3; // of the sublayers of the shorter stack

/** Left edge of the boxes of a stack whose frames begin at `x`. */
const leftOf = (stack: Stack, x: number) => x + (stack === 'enc' ? RAIL : PAD + 5);

/** From below: the heights in a unit of a sublayer with its norm. */
function unit(sizes: Sizes, height: number): number {
  if (sizes.norm === 'post') return FORK + height + CLOSE + NORM;
  const below = sizes.norm === 'pre' ? CLOSE + NORM + (FORK - 4) : FORK;
  return below + height + CLOSE + (sizes.noResidual ? 0 : 2 * SUM);
}

const layerHeight = (sizes: Sizes, count: number, height: number) => PAD + count * unit(sizes, height) + PAD;

function stackHeight(sizes: Sizes, layers: number, count: number, height: number) {
  const lastNorm = sizes.norm === 'pre' ? PAD + NORM : 0;
  return layers * layerHeight(sizes, count, height) + (layers - 1) * BETWEEN + lastNorm;
}

/** How high sublayers must be for a stack to reach `wanted`. */
function fitted(sizes: Sizes, layers: number, count: number, wanted: number) {
  const spare = wanted - stackHeight(sizes, layers, count, SUBLAYER);
  return SUBLAYER * Math.min(MOST_STRETCH, 1 + Math.max(0, spare) / (layers * count * SUBLAYER));
}

const boxOf = (kind: Kind, place: Place, x: number, y: number, width: number, height: number): Box =>
  ({ id: format(place), place, kind, x, y, width, height });

const FORKS = [-44, 0, 44]; // V, K and Q, from the middle of a sublayer

/** Draws a stack from below. `exit` is where numbers leave what is drawn by now, `last` the box that they leave. */
class Drawing {
  boxes: Box[] = [];
  wires: Wire[] = [];
  sums: Point[] = [];
  marks: Geometry['marks'] = [];
  last: string;
  exit: Point;
  readonly #stack: 'enc' | 'dec';
  readonly #side: -1 | 1; // where its residual connections run
  readonly #x: number; // of its frames
  readonly #left: number; // of its boxes
  readonly #width = COLUMN - RAIL - PAD - 5;
  readonly #cx: number;

  constructor(stack: 'enc' | 'dec', x: number, exit: Point) {
    this.#stack = stack;
    this.#side = stack === 'enc' ? -1 : 1;
    this.#x = x;
    this.#left = leftOf(stack, x);
    this.#cx = exit[0];
    this.exit = exit;
    this.last = `${stack}.embed`;
  }

  /** A box that ends at `bottom`, with the arrows into it. */
  box(kind: Kind, place: Place, bottom: number, height: number, forks: readonly number[] = [0]): Box {
    const box = boxOf(kind, place, this.#left, bottom - height, this.#width, height);
    const turn = bottom + Math.min(9, (this.exit[1] - bottom) * 0.75);
    for (const dx of forks) {
      const from = forks.length > 1 && dx !== 0 ? [] : [this.exit];
      const x = this.#cx + dx;
      const points: Point[] = dx === 0 ? [this.exit, [x, bottom]] : [...from, [this.#cx, turn], [x, turn], [x, bottom]];
      this.wires.push({ from: this.last, to: box.id, kind: 'flow', points });
    }
    this.boxes.push(box);
    this.exit = [this.#cx, box.y];
    this.last = box.id;
    return box;
  }

  /** A sublayer above `bottom`; what comes from the encoder comes from `memoryX`. */
  sublayer(sizes: Sizes, place: Place, bottom: number, height: number, memoryX: number): Box {
    const { part } = place;
    if (isUnit(place, sizes)) return this.box('unit', place, bottom, height);
    if (part === 'ffn') return this.box('ffn', place, bottom, height);
    const [v, k, q] = FORKS;
    const fromBelow = part === 'self' ? [v, k, q] : [q];
    const fromMemory = part === 'cross' ? [v, k] : [];
    const box = this.box('attention', place, bottom, height, fromBelow);
    for (const [i, text] of (['V', 'K', 'Q'] as const).entries()) {
      this.marks.push({ text, at: [this.#cx + FORKS[i], bottom] });
    }
    for (const dx of fromMemory) {
      const x = this.#cx + dx;
      const y = bottom + 9;
      this.wires.push({ from: '', to: box.id, kind: 'memory', points: [[memoryX, y], [x, y], [x, bottom]] });
    }
    return box;
  }

  /** From the stream below a sublayer around it. */
  residual(tap: Point, from: string, to: string, x: number, y: number) {
    const rail = this.#side < 0 ? this.#x + RAIL / 2 : this.#x + COLUMN - RAIL / 2;
    this.wires.push({ from, to, kind: 'residual', points: [tap, [rail, tap[1]], [rail, y], [x, y]] });
  }

  /** A sublayer with its norm and its residual connection, upwards from `y`; gives where it ends. */
  unit(sizes: Sizes, place: Place, y: number, height: number, memoryX: number): number {
    const norm = { ...place, part: `${place.part}Norm` as Part };
    const [tap, before]: [Point, string] = [[this.#cx, y - 2], this.last];
    if (sizes.norm === 'post') {
      const box = this.sublayer(sizes, place, y - FORK, height, memoryX);
      const { id, y: top } = this.box('norm', norm, box.y - CLOSE, NORM);
      const edge = this.#side < 0 ? this.#left : this.#left + this.#width;
      if (!sizes.noResidual) this.residual(tap, before, id, edge, top + NORM / 2);
      return top;
    }
    const under = sizes.norm === 'pre' ? this.box('norm', norm, y - CLOSE, NORM).y + 4 : y;
    const box = this.sublayer(sizes, place, under - FORK, height, memoryX);
    if (sizes.noResidual) return box.y - CLOSE;
    const sum: Point = [this.#cx, box.y - CLOSE - SUM];
    this.wires.push({ from: box.id, to: box.id, kind: 'flow', points: [this.exit, [sum[0], sum[1] + SUM]] });
    this.residual(tap, before, box.id, this.#cx + this.#side * SUM, sum[1]);
    this.sums.push(sum);
    this.exit = [this.#cx, sum[1] - SUM];
    return this.exit[1];
  }

  /** All layers, upwards from `bottom`. */
  layers(sizes: Sizes, count: number, bottom: number, height: number, memoryX: number) {
    const stack = this.#stack;
    const parts: Part[] = stack === 'enc' ? ['self', 'ffn'] : ['self', 'cross', 'ffn'];
    let y = bottom;
    for (let layer = 0; layer < count; ++layer) {
      const frame = layerHeight(sizes, parts.length, height);
      this.boxes.push(boxOf('layer', { stack, layer }, this.#x, y - frame, COLUMN, frame));
      y -= PAD;
      for (const part of parts) y = this.unit(sizes, { stack, layer, part }, y, height, memoryX);
      y -= PAD + (layer < count - 1 ? BETWEEN : 0);
    }
    if (sizes.norm === 'pre') y = this.box('norm', { stack, part: 'norm' }, y - PAD, NORM).y;
    const x = this.#x - (this.#side < 0 ? MARGIN : 2 * PAD);
    this.boxes.unshift(boxOf('stack', { stack }, x, y - PAD, COLUMN + 2 * PAD + MARGIN, bottom - y + 2 * PAD));
    return y;
  }
}

interface DrawnInput extends Pick<Geometry, 'wires' | 'sums' | 'waves'> {
  embed: Box;
  tokens: Rect;
  exit: Point;
}

/** Tokens and embedding, with added positions unless the model has none to add, below a stack whose frame ends at `bottom`. */
function drawInput(stack: 'enc' | 'dec', x: number, bottom: number, { rotary }: Sizes): DrawnInput {
  const side = stack === 'enc' ? -1 : 1;
  const left = leftOf(stack, x);
  const width = COLUMN - RAIL - PAD - 5;
  const cx = left + width / 2;
  const sum: Point = [cx, bottom + 14 + SUM];
  const embed = boxOf('embed', { stack, part: 'embed' }, left, sum[1] + SUM + 8, width, EMBED);
  const tokens: Rect = { x, y: embed.y + EMBED + 12, width: COLUMN, height: TOKENS };
  const wave: Point = [cx + side * 46, sum[1]];
  const exit: Point = [cx, sum[1] - SUM];
  const looked: Wire = { from: '', to: embed.id, kind: 'flow', points: [[cx, tokens.y], [cx, embed.y + EMBED]] };
  const embedded = (y: number): Wire =>
    ({ from: embed.id, to: embed.id, kind: 'flow', points: [[cx, embed.y], [cx, y]] });
  // Rotary positions turn queries and keys, and some models have none: nothing is added here.
  if (rotary) return { embed, tokens, wires: [looked, embedded(sum[1] - SUM)], sums: [], waves: [], exit };
  const positions: Wire = {
    from: embed.id, to: embed.id, kind: 'flow', points: [[wave[0] - side * 9, wave[1]], [cx + side * SUM, sum[1]]],
  };
  const wires = [looked, embedded(sum[1] + SUM), positions];
  return { embed, tokens, wires, sums: [sum], waves: [{ at: wave, side }], exit };
}

const inputHeight = 14 + 2 * SUM + 8 + EMBED + 12 + TOKENS;
const outputHeight = OUTPUT + 9 + CHART + 10 + OUTPUT + 9 + OUTPUT + HEAD_ROOM;

/** `tall`: the decoder above the encoder, for narrow screens. */
export function layOut(sizes: Sizes, tall = false): Geometry {
  const { encoderLayers, decoderLayers } = sizes;
  const wanted = Math.max(
    stackHeight(sizes, encoderLayers, 2, SUBLAYER),
    stackHeight(sizes, decoderLayers, 3, SUBLAYER),
  );
  const heights = tall ? [SUBLAYER * 1.4, SUBLAYER * 1.2]
    : [fitted(sizes, encoderLayers, 2, wanted), fitted(sizes, decoderLayers, 3, wanted)];
  const encHeight = stackHeight(sizes, encoderLayers, 2, heights[0]);
  const decHeight = stackHeight(sizes, decoderLayers, 3, heights[1]);
  const encX = tall ? MARGIN + 14 : MARGIN + PAD;
  const decX = tall ? encX : encX + COLUMN + GAP;
  const memoryX = tall ? 14 : decX - GAP / 2 + 4;
  const decBottom = outputHeight + PAD + (tall ? decHeight : Math.max(encHeight, decHeight));
  const encBottom = tall ? decBottom + inputHeight + 2 * HEAD_ROOM + 3 * PAD + encHeight : decBottom;
  const [below, belowDec] = [drawInput('enc', encX, encBottom, sizes), drawInput('dec', decX, decBottom, sizes)];
  const [enc, dec] = [new Drawing('enc', encX, below.exit), new Drawing('dec', decX, belowDec.exit)];
  const encTop = enc.layers(sizes, encoderLayers, encBottom, heights[0], memoryX);
  const decTop = dec.layers(sizes, decoderLayers, decBottom, heights[1], memoryX);

  // The encoder's output goes up beside the decoder, and from there into every cross-attention.
  const over = enc.exit[1] - PAD - 9;
  for (const wire of dec.wires) {
    if (wire.kind !== 'memory') continue;
    const [, turn] = wire.points[0];
    wire.from = enc.last;
    wire.points = [enc.exit, [enc.exit[0], over], [memoryX, over], [memoryX, turn], ...wire.points.slice(1)];
  }

  const [cx, top] = dec.exit;
  const { x, width } = dec.boxes.find(({ kind }) => kind === 'ffn')!;
  const linear = boxOf('output', { stack: 'out', part: 'linear' }, x, decTop - HEAD_ROOM - OUTPUT, width, OUTPUT);
  const softmax = boxOf('output', { stack: 'out', part: 'softmax' }, x, linear.y - 9 - OUTPUT, width, OUTPUT);
  const chart: Rect = { x, y: softmax.y - 10 - CHART, width, height: CHART };
  const beam = boxOf('output', { stack: 'out', part: 'beam' }, x, chart.y - 9 - OUTPUT, width, OUTPUT);
  const ends: Wire[] = [
    { from: dec.last, to: linear.id, kind: 'flow', points: [[cx, top], [cx, linear.y + OUTPUT]] },
    { from: linear.id, to: softmax.id, kind: 'flow', points: [[cx, linear.y], [cx, softmax.y + OUTPUT]] },
    { from: softmax.id, to: 'chart', kind: 'flow', points: [[cx, softmax.y], [cx, chart.y + CHART]] },
    { from: 'chart', to: beam.id, kind: 'flow', points: [[cx, chart.y], [cx, beam.y + OUTPUT]] },
  ];
  // Wire by which the chosen token becomes input: right of everything, down to the tokens.
  const right = decX + COLUMN + MARGIN + 2;
  const [from, to] = [beam.y + OUTPUT / 2, belowDec.tokens.y + TOKENS / 2];
  ends.push({ from: beam.id, to: beam.id, kind: 'loop',
    points: [[x + width, from], [right, from], [right, to], [decX + COLUMN + 4, to]] });
  return {
    width: right + 7,
    height: encBottom + inputHeight,
    boxes: [...enc.boxes, below.embed, ...dec.boxes, belowDec.embed, linear, softmax, beam],
    wires: [...below.wires, ...enc.wires, ...belowDec.wires, ...dec.wires, ...ends],
    marks: [...enc.marks, ...dec.marks],
    sums: [...below.sums, ...enc.sums, ...belowDec.sums, ...dec.sums],
    waves: [...below.waves, ...belowDec.waves],
    tokens: { enc: below.tokens, dec: belowDec.tokens },
    chart,
    plaque: tall ? null : { x: encX, y: 0, width: COLUMN + GAP / 2 - 30, height: encTop - PAD - 2 * HEAD_ROOM },
  };
}

export const boxAt = (geometry: Geometry, stack: Stack | undefined, layer?: number, part?: Part) =>
  geometry.boxes.find(({ id }) => id === format({ stack, layer, part }));

/** Rectangle that the camera frames: a stack or a layer with some room around it, else everything. */
export function framed(geometry: Geometry, { stack, layer }: Place): Rect {
  const room = layer === undefined ? 14 : MARGIN; // beside a layer stands its name
  const box = stack === 'out' ? undefined : boxAt(geometry, stack, layer);
  if (!box) return { x: -8, y: -10, width: geometry.width + 16, height: geometry.height + 14 };
  return { x: box.x - room, y: box.y - room, width: box.width + 2 * room, height: box.height + 2 * room };
}

/** How the drawing is moved and enlarged for a part of it to fill a space, centred. */
export function camera(rect: Rect, width: number, height: number) {
  const scale = Math.min(width / rect.width, height / rect.height);
  return { scale, x: width / 2 - scale * (rect.x + rect.width / 2), y: height / 2 - scale * (rect.y + rect.height / 2) };
}

/** The path through points, its corners rounded. */
export function path(points: readonly Point[], radius = 6): string {
  const parts = [`M${points[0][0]} ${points[0][1]}`];
  for (let i = 1; i < points.length - 1; ++i) {
    const [before, [x, y], after] = [points[i - 1], points[i], points[i + 1]];
    const [into, out] = [before, after].map(([px, py]) => {
      const length = Math.hypot(px - x, py - y) || 1;
      const share = Math.min(radius, length / 2) / length;
      return `${x + (px - x) * share} ${y + (py - y) * share}`;
    });
    parts.push(`L${into}Q${x} ${y} ${out}`);
  }
  const [x, y] = points.at(-1)!;
  return `${parts.join('')}L${x} ${y}`;
}

/** The point at a share of the way along. */
export function along(points: readonly Point[], share: number): Point {
  const lengths = points.slice(1).map(([x, y], i) => Math.hypot(x - points[i][0], y - points[i][1]));
  let left = share * lengths.reduce((a, b) => a + b, 0);
  for (const [i, length] of lengths.entries()) {
    if (left > length && i < lengths.length - 1) {
      left -= length;
      continue;
    }
    const part = length === 0 ? 0 : Math.min(1, left / length);
    const [[x, y], [toX, toY]] = [points[i], points[i + 1]];
    return [x + (toX - x) * part, y + (toY - y) * part];
  }
  return points[0];
}

/** The box that an arrow key goes to: the nearest in that direction, those straight ahead first. */
export function nearest<Of extends Rect>(boxes: readonly Of[], from: Of, down: number, right: number): Of | undefined {
  const middle = (box: Rect) => [box.x + box.width / 2, box.y + box.height / 2];
  const [x, y] = middle(from);
  let best: { box: Of; far: number } | undefined;
  for (const box of boxes) {
    const [dx, dy] = [middle(box)[0] - x, middle(box)[1] - y];
    const ahead = dx * right + dy * down;
    if (box === from || ahead < 1) continue;
    const aside = Math.abs(dx * down) + Math.abs(dy * right);
    const far = ahead + 3 * aside;
    if (!best || far < best.far) best = { box, far };
  }
  return best?.box;
}
