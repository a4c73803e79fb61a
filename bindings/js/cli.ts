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

// Emscripten ends the program by throwing, and handles what it threw: such an end is no failure.
const isEnd = (thrown: unknown) => thrown === 'unwind' || (thrown instanceof Object && 'name' in thrown && thrown.name === 'ExitStatus');

// Without this, Node prints the line of the module in which it failed, which is all of its minified source.
process.on('uncaughtException', (error: unknown) => {
  if (isEnd(error)) return;
  console.error(`wasmformer: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
});

if (process.argv[2] === 'models') {
  const { printModels } = await import('./models.js');
  await printModels(process.argv.slice(3));
} else {
  createRequire(import.meta.url)('./wasm/cli/cli.cjs');
}
