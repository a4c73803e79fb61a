// Compiled, never run: bindings/js/worker/native.ts must match what Emscripten says of the module it has built.
import type { NativeModule, NativeRunEvent as RunEvent } from '../../bindings/js/worker/native.js';
import type { MainModule } from '../../build/wasm/types/wasmformer.js';

// Emscripten names this type without its declaration, as C++ makes its values by hand.
declare global {
  type NativeRunEvent = RunEvent;
}

// Emscripten lists every form in which C++ takes a string; this package passes strings.
type Plain<T> = string extends T
  ? string
  : T extends (...args: infer Args) => infer Result
    ? (...args: { [I in keyof Args]: Plain<Args[I]> }) => Plain<Result>
    : T extends Float32Array | Uint8Array
      ? T
      : T extends object
        ? { [Key in keyof T]-?: Plain<Exclude<T[Key], undefined>> }
        : T;

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;

export const same: Same<Plain<Pick<MainModule, keyof NativeModule>>, Plain<NativeModule>> = true;

// Nothing is declared in C++ that TypeScript does not know.
type Known = keyof NativeModule | 'describeException' | 'stackSave' | 'stackRestore' | 'Job' | 'Annotations' | 'EvaluationJob' | 'ValidationJob' | 'Translator' | 'TrainingRun'
  | 'TrainingLoop' | 'RunPlan' | `HEAP${string}`;
export const unknown: Exclude<keyof MainModule, Known> extends never ? true : never = true;
