// Text out of a file, whatever it is written in.
import { MOST_BYTES, type Bad } from './table';
import type { Values } from '../words/language';

export class Refusal extends Error {
  constructor(readonly bad: Bad, readonly values: Values = {}) {
    super(bad);
  }
}

/** Bytes as text: UTF-8 or UTF-16, with or without the mark that says so, gzipped or not. */
export async function decode(file: Blob, name: string): Promise<string> {
  let bytes = new Uint8Array(await file.arrayBuffer());
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) bytes = await unpack(file, name);
  const [a, b] = bytes;
  const isMarked = (a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff);
  const head = bytes.subarray(0, 2000);
  const zeros = [0, 1].map((odd) => head.filter((byte, place) => byte === 0 && place % 2 === odd).length);
  const isWide = isMarked || Math.max(...zeros) > 0.2 * head.length; // every other byte of Latin text is 0
  const isBig = isMarked ? a === 0xfe : zeros[0] > zeros[1];
  try {
    const text = new TextDecoder(isWide ? (isBig ? 'utf-16be' : 'utf-16le') : 'utf-8', { fatal: true }).decode(bytes);
    if (!/[\0-\x08\x0e-\x1f]/.test(text)) return text;
  } catch {
    // what it holds is no text
  }
  throw new Refusal('binary', { name });
}

async function unpack(file: Blob, name: string): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const reader = file.stream().pipeThrough(new DecompressionStream('gzip')).getReader();
  try {
    for (let part; !(part = await reader.read()).done; parts.push(part.value as Uint8Array<ArrayBuffer>)) {
      if ((size += part.value.length) > MOST_BYTES) break;
    }
  } catch {
    throw new Refusal('binary', { name });
  }
  if (size <= MOST_BYTES) return new Uint8Array(await new Blob(parts).arrayBuffer());
  await reader.cancel();
  throw new Refusal('big', { name });
}
