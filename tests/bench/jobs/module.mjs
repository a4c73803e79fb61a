// wasmformer_bench as a WebAssembly module, in a worker. What `main` prints is the result.
import { modelFile, shapes } from '../data.mjs';

export default async function ({ build, command, shape, precision }) {
  const lines = [];
  const errors = [];
  const { default: factory } = await import(`/build/wasm/tests/bench/wasmformer_bench_${build}.mjs`);
  const module = await factory({ print: (line) => lines.push(line), printErr: (line) => errors.push(line) });
  if (shape) module.FS.writeFile('/model', modelFile(shapes[shape], precision));
  return (ms) => {
    if (module.callMain([...command, ms].map(String)) !== 0) throw new Error(errors.join('\n'));
    return JSON.parse(lines.pop());
  };
}
