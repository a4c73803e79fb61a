// `npx wasmformer` passes the tests of the native program.
import { join } from 'node:path';

process.env.WASMFORMER_PROGRAM = join(import.meta.dirname, '../../dist/cli.js');
for (const tests of ['program', 'train']) await import(`./${tests}.test.mjs`);
