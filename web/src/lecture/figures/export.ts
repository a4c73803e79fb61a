// A figure as a file: the drawing with its colors written into it, or painted on a canvas.
const COPIED = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity', 'font-size', 'font-family', 'font-weight', 'text-anchor'];
const SHARPNESS = 2; // px of the picture for one of the page

const paper = (svg: SVGSVGElement) => getComputedStyle(svg).getPropertyValue('--paper') || 'white';

/** A document of its own. */
export function svgOf(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const copies = copy.querySelectorAll<SVGElement>('*');
  for (const [i, element] of svg.querySelectorAll<SVGElement>('*').entries()) {
    const style = getComputedStyle(element);
    copies[i].removeAttribute('style');
    for (const name of COPIED) copies[i].setAttribute(name, style.getPropertyValue(name));
  }
  const ground = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  for (const [name, value] of Object.entries({ width: '100%', height: '100%', fill: paper(svg) })) ground.setAttribute(name, value);
  copy.prepend(ground);
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  return new XMLSerializer().serializeToString(copy);
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

function paintText(paint: CanvasRenderingContext2D, element: Element, style: CSSStyleDeclaration) {
  paint.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  paint.textAlign = ({ middle: 'center', end: 'right' } as const)[style.textAnchor] ?? 'left';
  paint.fillStyle = style.fill;
  paint.fillText(element.textContent ?? '', numberOf(element, 'x'), numberOf(element, 'y'));
}

function paintShape(paint: CanvasRenderingContext2D, element: Element, style: CSSStyleDeclaration) {
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
export async function pngOf(svg: SVGSVGElement): Promise<Blob> {
  const canvas = document.createElement('canvas');
  const { left, top, width, height } = svg.getBoundingClientRect();
  [canvas.width, canvas.height] = [width * SHARPNESS, height * SHARPNESS];
  const paint = canvas.getContext('2d')!;
  paint.scale(SHARPNESS, SHARPNESS);
  paint.fillStyle = paper(svg);
  paint.fillRect(0, 0, width, height);
  for (const element of svg.querySelectorAll<SVGGraphicsElement>('rect, path, line, circle, text')) {
    const { a, b, c, d, e, f } = element.getScreenCTM()!;
    paint.save();
    paint.transform(a, b, c, d, e - left, f - top);
    const style = getComputedStyle(element);
    if (element.tagName === 'text') paintText(paint, element, style);
    else paintShape(paint, element, style);
    paint.restore();
  }
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('no picture')))));
}
