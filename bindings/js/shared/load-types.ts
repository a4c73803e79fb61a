// Where models come from, and where they run.

/** The builds of the WebAssembly module; the best one that the machine can run is used. */
export type Build = 'relaxed' | 'simd';

/**
 * Where a model comes from: a URL (or, in Node, a path), the bytes of a model file, or a MarianMT model of Hugging Face
 * by its name, such as 'Helsinki-NLP/opus-mt-de-en', or by the address of its page. In browsers a relative URL of the form
 * of such a name begins with './'; in Node a file that exists comes first.
 */
export type ModelSource = string | URL | Blob | ArrayBuffer | Uint8Array;

/** A Translator, a Classifier, a Tagger or a Trainer. */
export interface WorkerOwner {
  readonly info: { readonly build: Build; readonly threads: number };
  dispose(): void;
}

/** Where a model runs. */
export interface WorkerOptions {
  /**
   * Threads to compute with, from 1 to 64. 'auto', the default, takes one per core, up to 8, in Node and on pages that
   * are cross-origin isolated, and 1 elsewhere. The results are the same for every number.
   */
  threads?: number | 'auto';
  /**
   * Use this one's worker, with its threads and memory, instead of starting another. Their calls take turns; an error
   * that stops the module stops all of them.
   */
  shareWith?: WorkerOwner;
  /**
   * The address of dist/worker/worker.js in a copy of the package's dist folder, for bundlers that do not emit workers; the
   * modules are found from there. Default: the file beside the package's own.
   */
  workerURL?: string | URL;
}

export interface LoadOptions extends WorkerOptions {
  /** Called while the model arrives, in bytes, of all its files; `total` is missing if a server does not send it. */
  onProgress?: (loaded: number, total?: number) => void;
  /** Aborting ends the download and rejects with the signal's reason. */
  signal?: AbortSignal;
  /**
   * Keep the model: in Cache Storage, or in Node in a folder wasmformer-models of XDG_CACHE_HOME or ~/.cache. Default: true
   * for http(s) URLs if there is Cache Storage, and everywhere for models of Hugging Face, which are kept as converted.
   */
  cache?: boolean;
  /**
   * Accept only this file: 'sha256-…', 'sha384-…' or 'sha512-…' in base64, as in a script's integrity attribute. Of a model
   * of Hugging Face, the digest of its weights: model.safetensors, or pytorch_model.bin without that.
   */
  integrity?: string;
  /** How a model of Hugging Face is stored when it is converted. Default 'int8'; a Trainer's `from` has 'f32'. */
  precision?: 'f32' | 'f16' | 'int8';
  /** The host of models by name. Default 'https://huggingface.co'. */
  hub?: string | URL;
}

/** What loading a model would download. */
export interface Estimate {
  /** Bytes of all files; 0 if the model is stored here, missing if a server does not say it. */
  download?: number;
  /** Whether load() would need no download: it is a local file, given bytes, or kept by an earlier load(). */
  isStored: boolean;
}

/** A model that load() has kept in this browser; loading its URL again needs no download. */
export interface StoredModel {
  url: string;
  bytes: number;
}
