// Files of installed packages, in Node, Deno and Bun.
import { WasmformerError } from './errors.js';
import { nodeModule } from './platform.js';

const folderOf = (path: string) => path.replace(/[^/\\]*$/, '');

/** The folders of the program that runs and of the shell it was started in: there its packages are installed. */
export function programFolders(): string[] {
  const script = process.argv[1] ?? '';
  return [folderOf(script), `${process.cwd()}/`].filter(Boolean);
}

/** The folder of this script, whose package may be installed beside the other one; none in a bundle that has no address. */
async function ownFolder(): Promise<string[]> {
  const { fileURLToPath } = await nodeModule<typeof import('node:url')>('url');
  const here = import.meta.url;
  // Not by `new URL('.', …)`, which Turbopack takes for a module to bundle.
  return here?.startsWith('file:') ? [folderOf(fileURLToPath(here))] : [];
}

/**
 * The path of a file of an installed package, as a program in one of the folders would find it.
 * @throws 'not-installed', with what to do as `advice`
 */
export async function installedFile(
  room: string, { name, file, advice }: { name: string; file: string; advice: string }, folders: readonly string[],
): Promise<string> {
  const { createRequire } = await nodeModule<typeof import('node:module')>('module');
  const places = [...new Set([...folders, ...await ownFolder()])];
  let cause: unknown;
  for (const place of places) {
    try {
      return createRequire(place).resolve(`${name}/${file}`);
    } catch (error) {
      cause = error;
    }
  }
  const where = `it was looked for in node_modules of ${places.join(', ')} and of the folders above`;
  const sentence = `the package ${name} is not installed; ${where}; ${advice}`;
  throw new WasmformerError('not-installed', sentence, { room, details: { name, places: places.join(', ') }, cause });
}
