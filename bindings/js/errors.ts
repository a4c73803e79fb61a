// What goes wrong inside a WebAssembly module, as errors of JavaScript.
import type { ExceptionHelpers } from './module.js';

/** The module has stopped in the middle of something: no object in it can be used again. */
export class FatalError extends Error {}

/** Makes an Error with the sentence of what C++ has thrown; errors of JavaScript stay what they are. */
export function errorOf(module: ExceptionHelpers, thrown: unknown): unknown {
  // Traps and a full stack leave the module's memory in any state.
  if (thrown instanceof WebAssembly.RuntimeError || thrown instanceof RangeError) {
    return new FatalError(`[engine] the WebAssembly module stopped: ${thrown.message}`, { cause: thrown });
  }
  if (thrown instanceof Error) return thrown;
  const [type, message] = module.getExceptionMessage(thrown);
  module.decrementExceptionRefcount(thrown);
  return new Error(type.includes('bad_alloc') ? '[memory] there is not enough memory for this' : message);
}
