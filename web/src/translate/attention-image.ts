// A drawn map as a file, without what is pointed at.
import { draw, prepare, svgTextOf, type Drawing } from '../shared/attention/drawing';

const LARGEST = 2e6; // pixels of a picture that is drawn larger than life

export async function picture(drawing: Drawing, format: 'png' | 'svg'): Promise<Blob> {
  if (format === 'svg') return new Blob([svgTextOf(drawing)], { type: 'image/svg+xml' });
  const { layout, colours, typeface } = drawing;
  const canvas = new OffscreenCanvas(1, 1);
  const scale = Math.min(2, Math.max(1, Math.sqrt(LARGEST / (layout.width * layout.height))));
  const { pen } = prepare(canvas, layout, typeface, scale);
  pen.rect(0, 0, layout.width, layout.height, colours.paper);
  draw(pen, drawing);
  const worker = new Worker(new URL('./attention-image-worker.ts', import.meta.url), { type: 'module' });
  const bitmap = canvas.transferToImageBitmap();
  const written = new Promise<Blob>((resolve) => (worker.onmessage = ({ data }) => resolve(data)));
  worker.postMessage(bitmap, [bitmap]);
  return written.finally(() => worker.terminate());
}
