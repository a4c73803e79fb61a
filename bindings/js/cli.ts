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

/** The sentence about an error in Node or in the module; the program reports its own errors itself. */
function sentenceOf(thrown: unknown): string {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const [first] = error.message.split('\n') as [string, ...string[]];
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code.startsWith('ERR_WORKER')) return `Node cannot start a thread: ${first}; try a lower --threads`;
  if (error.name === 'RuntimeError') return `the program has stopped: ${first}; if reinstalling does not help, please report it`;
  return first;
}

/** The sentence about an error before the program began. */
function startSentenceOf(thrown: unknown): string {
  // The only memory that is asked for here is that of the module, whose addresses are reserved at once.
  if (thrown instanceof RangeError) return 'not enough memory: WebAssembly reserves 4 GB of addresses; raise the limit, for example with ulimit -v unlimited';
  if (typeof WebAssembly === 'undefined') return 'this Node runs without WebAssembly; start it without --jitless';
  return `the package is incomplete or damaged: ${sentenceOf(thrown)}; install wasmformer again`;
}

function fail(sentence: string): never {
  console.error(`wasmformer: ${sentence}`);
  process.exit(1);
}

// Without this, Node prints the line of the module in which it failed, which is all of its minified source.
process.on('uncaughtException', (error: unknown) => {
  if (!isEnd(error)) fail(sentenceOf(error));
});

const oldestNode = 20;
if (Number.parseInt(process.versions.node, 10) < oldestNode) fail(`Node ${oldestNode} or newer is needed; this is ${process.versions.node}`);

if (process.argv[2] === 'models') {
  const { printModels } = await import('./models.js');
  await printModels(process.argv.slice(3));
} else {
  try {
    createRequire(import.meta.url)('./wasm/cli/cli.cjs');
  } catch (error) {
    if (!isEnd(error)) fail(startSentenceOf(error));
  }
}
