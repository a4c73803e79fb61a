// `wasmformer/engine`: the synchronous side of the WebAssembly module, for programs that may block.
import { isTagged, show } from '../shared/checks.js';
import { WasmformerTypeError } from '../shared/errors.js';
import { SyncTranslator } from './sync-translator.js';
import { startInstance, WorkerEngine, type EngineOptions } from './worker-engine.js';

export { SyncTranslator, type SyncTextOptions } from './sync-translator.js';
export type { EngineOptions } from './worker-engine.js';
export type { SyncOptions, SyncTokenizeOptions } from './worker-translator.js';

/**
 * One instance of the module: its memory and its threads, and the models in it.
 * @example
 * const engine = await Engine.create();
 * const translator = engine.load(await readFile('models/de-en.safetensors'));
 * console.log(translator.translate('Wo ist mein Buch?').text); // blocks until it is done
 */
export class Engine extends WorkerEngine {
  /**
   * Starts the module.
   * @throws when an option is unknown or impossible, or the machine cannot run the build or so many threads; in
   * a service worker and other places without import(), unless `module` and `factory` are given
   */
  static override async create(options: EngineOptions = {}): Promise<Engine> {
    return new Engine(await startInstance(options));
  }

  /** Several models may be loaded at a time. Throws if it is not the file of a translator. */
  load(file: Uint8Array | ArrayBuffer): SyncTranslator {
    const bytes = isTagged<ArrayBuffer>(file, 'ArrayBuffer') ? new Uint8Array(file) : file;
    if (!isTagged<Uint8Array>(bytes, 'Uint8Array')) {
      throw new WasmformerTypeError('load', `the model must be a Uint8Array or an ArrayBuffer, not ${show(file)}`);
    }
    return this.loadAs(SyncTranslator, 'translate', bytes);
  }
}
