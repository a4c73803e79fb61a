#!/usr/bin/env node
// `npx wasmformer`: the program wasmformer (src/cli), compiled to WebAssembly.
import fs from 'node:fs';
import { createRequire } from 'node:module';

// With a worker, Node makes pipes non-blocking, and synchronous reads and writes fail instead of waiting.
const never = new Int32Array(new SharedArrayBuffer(4));
for (const name of ['readSync', 'writeSync'] as const) {
  const call = fs[name] as (...args: unknown[]) => number;
  const waiting = (...args: unknown[]): number => {
    for (;;) {
      try {
        return call(...args);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'EPIPE') process.exit(141); // nobody reads the output: as after SIGPIPE
        if (code !== 'EAGAIN') throw error;
        Atomics.wait(never, 0, 0, /* milliseconds */ 5);
      }
    }
  };
  Object.assign(fs, { [name]: waiting });
}

if (process.argv[2] === 'models') {
  const work = import('./models.js').then(({ printModels }) => printModels(process.argv.slice(3)));
  await work.catch(({ message }: Error) => (console.error(`wasmformer: ${message}`), process.exitCode = 1));
} else createRequire(import.meta.url)('./wasm/cli/cli.cjs');
