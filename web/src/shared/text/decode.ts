// Text out of a file, whatever it is written in.
import type { Values } from '../words/language';
import { MOST_BYTES, type Bad } from './table';

export class Refusal extends Error {
  constructor(
    readonly bad: Bad,
    readonly values: Values = {},
  ) {
    super(bad);
  }
}

/** Bytes as text: UTF-8 or UTF-16, with or without the mark that says so, gzipped or not. */
export async function decode(file: Blob, name: string): Promise<string> {
  let bytes = new Uint8Array(await file.arrayBuffer());
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) bytes = await unpack(file, bytes, name);
  const [a, b] = bytes;
  const isMarked = (a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff);
  const head = bytes.subarray(0, 2000);
  const zeros = [0, 1].map((odd) => head.filter((byte, place) => byte === 0 && place % 2 === odd).length);
  const isWide = isMarked || Math.max(...zeros) > 0.2 * head.length; // every other byte of Latin text is 0
  const isBig = isMarked ? a === 0xfe : zeros[0] > zeros[1];
  try {
    const wide = isBig ? 'utf-16be' : 'utf-16le';
    const text = new TextDecoder(isWide ? wide : 'utf-8', { fatal: true }).decode(bytes);
    if (!/[\0-\x08\x0e-\x1f]/.test(text)) return text;
  } catch {
    // what it holds is no text
  }
  throw new Refusal('binary', { name });
}

/** The content of a gzip file, which may be of several members, one after the other (RFC 1952). */
async function unpack(file: Blob, bytes: Uint8Array, name: string): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  // A browser unpacks one member, and does not say where it ends: where the next may begin, or later.
  for (let start = 0, end = 0; start < bytes.length;) {
    do ++end;
    while (end < bytes.length && !(bytes[end] === 0x1f && bytes[end + 1] === 0x8b && bytes[end + 2] === 8));
    const member = await unpackMember(file.slice(start, end), MOST_BYTES - size);
    if (!member && end === bytes.length) throw new Refusal('binary', { name });
    if (!member) continue;
    start = end;
    parts.push(...member);
    size = parts.reduce((sum, { length }) => sum + length, 0);
    if (size > MOST_BYTES) throw new Refusal('big', { name });
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** The parts of a member, up to a bit more than `most` bytes; undefined if it is none. */
async function unpackMember(file: Blob, most: number): Promise<Uint8Array<ArrayBuffer>[] | undefined> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const reader = file.stream().pipeThrough(new DecompressionStream('gzip')).getReader();
  try {
    for (let part; most >= 0 && !(part = await reader.read()).done; most -= part.value.length) {
      parts.push(part.value as Uint8Array<ArrayBuffer>);
    }
    await reader.cancel();
    return parts;
  } catch {
    return undefined;
  }
}
