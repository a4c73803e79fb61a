// Files in packages of Debian and in ZIP archives, read without unpacking them to the disk.
import { spawnSync } from 'node:child_process';
import { inflateRawSync } from 'node:zlib';

const BLOCK = 512;
const MOST_BYTES = 2 ** 31 - 1;
const field = (block, start, end) => block.toString('utf8', start, end).replace(/\0.*$/s, '');

/** The files of a tar archive, `{ path, bytes }`, in its order. */
export function *filesOfTar(tar) {
  let longName;
  for (let at = 0; at + BLOCK <= tar.length && tar[at] !== 0;) {
    const header = tar.subarray(at, at + BLOCK);
    const size = parseInt(field(header, 124, 136), 8);
    const kind = String.fromCharCode(header[156]);
    const bytes = tar.subarray(at + BLOCK, at + BLOCK + size);
    at += BLOCK * (1 + Math.ceil(size / BLOCK));
    if (kind === 'L') longName = field(bytes, 0, size);
    else {
      const prefix = field(header, 345, 500);
      const path = longName ?? (prefix ? `${prefix}/` : '') + field(header, 0, 100);
      longName = undefined;
      if (kind === '0') yield { path, bytes };
    }
  }
}

/** The files of a package. dpkg-deb unpacks it in memory. */
export function filesOfPackage(file) {
  const { status, stdout, stderr } = spawnSync('dpkg-deb', ['--fsys-tarfile', file], { maxBuffer: MOST_BYTES });
  if (status !== 0) throw new Error(`${file}: dpkg-deb failed: ${stderr}`);
  return filesOfTar(stdout);
}

const DIRECTORY_ENTRY = 0x02014b50;

/** The files of a ZIP archive. */
export function *filesOfZip(zip) {
  let at = zip.indexOf(Buffer.from([0x50, 0x4b, 1, 2]));
  while (at >= 0 && at + 46 <= zip.length && zip.readUInt32LE(at) === DIRECTORY_ENTRY) {
    const isDeflated = zip.readUInt16LE(at + 10) === 8;
    const size = zip.readUInt32LE(at + 20);
    const [name, extra, comment] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset));
    const local = zip.readUInt32LE(at + 42);
    const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    const bytes = zip.subarray(start, start + size);
    yield { path: zip.toString('utf8', at + 46, at + 46 + name), bytes: isDeflated ? inflateRawSync(bytes) : bytes };
    at += 46 + name + extra + comment;
  }
}
