// A figure as a file: the drawing with its colors written into it, its title above and its words below.
export interface Picture {
  drawing: SVGSVGElement; // on the page, or one that brings its colors
  title: string;
  /** What the drawing shows, and what the page says about it: a line of text each, of which `_x` is lowered and `^x` raised. */
  words: readonly string[];
}
export type Format = 'svg' | 'png';

const NAMESPACE = 'http://www.w3.org/2000/svg';
const COPIED = [
  'fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity', 'overflow', 'font-size', 'font-family', 'font-weight', 'text-anchor',
];
const SHARPNESS = 2; // px of the picture for one of the page
const EDGE = 16; // px around the drawing
const LEAST = 480; // px of width for the words
const LINE = 1.4; // of the size of type
const [SMALL, SHIFT] = [0.75, 0.3]; // of the size of type: an index, and how far from the line it stands

function made(tag: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const element = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

/** A text on the page as a line of words. */
export function wordsOf(element: Element): string {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const before: Readonly<Record<string, string>> = { SUB: '_', SUP: '^', SPAN: ' ' };
  let text = '';
  while (walker.nextNode()) {
    const { data, parentElement } = walker.currentNode as Text;
    text += (before[parentElement!.tagName] ?? '') + data;
  }
  return text.replace(/\s+/g, ' ').trim();
}

/** Cuts a text into lines that are narrow enough; Chinese may be cut after any character. */
function wrapped(text: string, isNarrow: (line: string) => boolean): string[] {
  const lines = [''];
  for (const part of text.split(/(?<= |[\p{Script=Han}，。：；）])/u)) {
    const longer = lines.at(-1)! + part;
    if (isNarrow(longer)) lines[lines.length - 1] = longer;
    else lines.push(part);
  }
  return lines;
}

/** A copy that needs nothing of the page. */
function copyOf(drawing: SVGSVGElement): SVGSVGElement {
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  copy.removeAttribute('class');
  if (drawing.ownerDocument !== document) return copy;
  const copies = copy.querySelectorAll<SVGElement>('*');
  for (const [i, element] of drawing.querySelectorAll<SVGElement>('*').entries()) {
    const style = getComputedStyle(element);
    for (const name of ['style', 'class']) copies[i].removeAttribute(name);
    for (const name of COPIED) copies[i].setAttribute(name, style.getPropertyValue(name));
  }
  return copy;
}

function lineOf(text: string, x: number, y: number, font: number): SVGElement {
  const line = made('text', { x, y });
  let lowered = 0;
  for (const [i, part] of text.split(/(?<=\S)([_^][\p{L}\d]+)/u).entries()) {
    const isIndex = i % 2 === 1;
    const place = isIndex ? SHIFT * font * (part.startsWith('^') ? -1 : 1) : 0;
    const piece = made('tspan', { dy: place - lowered, ...(isIndex && { 'font-size': SMALL * font }) });
    piece.textContent = isIndex ? part.slice(1) : part;
    line.append(piece);
    lowered = place;
  }
  return line;
}

/** A document of its own. */
export function svgOf({ drawing, title, words }: Picture): SVGSVGElement {
  const page = getComputedStyle(document.querySelector('main')!);
  const color = (name: string) => page.getPropertyValue(`--${name}`).trim();
  const font = parseFloat(page.fontSize) * 0.875;
  const ruler = document.createElement('canvas').getContext('2d')!;
  const [wide, tall] = [drawing.width, drawing.height].map(({ baseVal }) => baseVal.value);
  const most = Math.max(wide, LEAST);
  const linesOf = (text: string, look: string) => {
    ruler.font = look;
    return wrapped(text, (line) => ruler.measureText(line).width <= most);
  };
  const plain = words.filter(Boolean).map((text) => linesOf(text, `400 ${font}px ${page.fontFamily}`));
  const [head, ...below] = [linesOf(title, `600 ${font}px ${page.fontFamily}`), ...plain];
  let y = EDGE;
  const texts: SVGElement[] = [];
  const write = (lines: readonly string[], look: Readonly<Record<string, string | number>>) => {
    const block = made('g', look);
    for (const line of lines) block.append(lineOf(line, EDGE, (y += LINE * font) - 0.4 * font, font));
    texts.push(block);
  };
  write(head, { 'font-weight': 600, fill: color('ink') });
  const copy = copyOf(drawing);
  for (const [name, value] of Object.entries({ x: EDGE, y: (y += font), overflow: 'visible' })) copy.setAttribute(name, String(value));
  y += tall + font;
  for (const lines of below) write(lines, { fill: color('muted') });
  const [width, height] = [most + 2 * EDGE, y + EDGE];
  const look = { width, height, viewBox: `0 0 ${width} ${height}`, 'font-family': page.fontFamily, 'font-size': font };
  const root = made('svg', look) as SVGSVGElement;
  root.append(made('rect', { width, height, fill: color('paper') || 'white' }), copy, ...texts);
  return root;
}

const numberOf = (element: Element, name: string) => Number(element.getAttribute(name) ?? 0);

function outline(element: Element): Path2D {
  const path = new Path2D();
  const at = (...names: readonly string[]) => names.map((name) => numberOf(element, name));
  if (element.tagName === 'path') return new Path2D(element.getAttribute('d')!);
  if (element.tagName === 'rect') path.rect(...(at('x', 'y', 'width', 'height') as [number, number, number, number]));
  if (element.tagName === 'circle') path.arc(numberOf(element, 'cx'), numberOf(element, 'cy'), numberOf(element, 'r'), 0, 2 * Math.PI);
  if (element.tagName === 'line') {
    path.moveTo(numberOf(element, 'x1'), numberOf(element, 'y1'));
    path.lineTo(numberOf(element, 'x2'), numberOf(element, 'y2'));
  }
  return path;
}

/** Each piece stands where the browser has put it: raised, lowered, or centered. */
function paintText(paint: CanvasRenderingContext2D, text: SVGTextElement) {
  const pieces = text.querySelectorAll('tspan');
  for (const piece of pieces.length > 0 ? pieces : [text]) {
    if (piece.getNumberOfChars() === 0) continue;
    const style = getComputedStyle(piece);
    const { x, y } = piece.getStartPositionOfChar(0);
    paint.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    paint.fillStyle = style.fill;
    paint.fillText(piece.textContent ?? '', x, y);
  }
}

function paintShape(paint: CanvasRenderingContext2D, element: Element) {
  const style = getComputedStyle(element);
  const path = outline(element);
  paint.globalAlpha = Number(style.opacity);
  if (style.fill !== 'none') {
    paint.fillStyle = style.fill;
    paint.fill(path);
  }
  if (style.stroke === 'none') return;
  paint.strokeStyle = style.stroke;
  paint.lineWidth = parseFloat(style.strokeWidth);
  paint.setLineDash(style.strokeDasharray === 'none' ? [] : style.strokeDasharray.split(',').map(parseFloat));
  paint.stroke(path);
}

/** The page's policy lets no picture be made of a drawing, so its shapes are painted one by one. */
function painted(svg: SVGSVGElement): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  const { left, top, width, height } = svg.getBoundingClientRect();
  [canvas.width, canvas.height] = [width * SHARPNESS, height * SHARPNESS];
  const paint = canvas.getContext('2d')!;
  paint.scale(SHARPNESS, SHARPNESS);
  for (const element of svg.querySelectorAll<SVGGraphicsElement>('rect, path, line, circle, text')) {
    const { a, b, c, d, e, f } = element.getScreenCTM()!;
    paint.save();
    paint.transform(a, b, c, d, e - left, f - top);
    if (element.tagName === 'text') paintText(paint, element as SVGTextElement);
    else paintShape(paint, element);
    paint.restore();
  }
  return canvas;
}

export async function fileOf(picture: Picture, format: Format): Promise<Blob> {
  const svg = svgOf(picture);
  if (format === 'svg') return new Blob([new XMLSerializer().serializeToString(svg)], { type: 'image/svg+xml' });
  Object.assign(svg.style, { position: 'fixed', inset: '0', visibility: 'hidden' });
  document.body.append(svg); // where the browser lays it out
  const canvas = painted(svg);
  svg.remove();
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('no picture')))));
}
