// Public types for loading models: their sources, and the workers that run them.

/** A WebAssembly.Module, which the types of Node do not declare. */
export type CompiledModule = object;

/** Any of these properties; undefined is as good as missing. */
export type Optional<T> = { [Name in keyof T]?: T[Name] | undefined };

/** The builds of the WebAssembly module; the best one that the machine can run is used. */
export type WasmBuild = 'relaxed' | 'simd';

/**
 * Source of a model: a URL (or, in Node, a path), the bytes of a model file, or a name. Two language codes, such as
 * 'de-en', name the model of the package wasmformer-de-en: in Node, Deno and Bun it must be installed, in browsers it is
 * downloaded (see LoadOptions.modelsURL). 'Helsinki-NLP/opus-mt-de-en' or the address of its page is a MarianMT model of
 * Hugging Face; Classifier and Tagger take BERT and DistilBERT models in the same way. Begin a relative URL or a path
 * that looks like a name with './'; in Node, an existing file comes before a model of Hugging Face. A ListSource names
 * a model in one of Mozilla's lists.
 */
export type ModelSource = string | URL | Blob | ArrayBuffer | Uint8Array | ListSource;

/** A Firefox translation model, selected from a Mozilla model list. */
export interface ListSource {
  /** models.json, registry.json or Remote Settings records: its address, a path in Node, or the file. */
  list: string | URL | Blob;
  /** Language of the source, as the list writes it, such as 'de'. */
  from: string;
  /** Language of the target, likewise. */
  to: string;
  /** Such as 'tiny'. Default: that of the first, released ones before others and newer ones before older. */
  architecture?: string | undefined;
}

/** Entry of a list of models. `version` is a number or the status of a release; it and `architecture` may be ''. */
export interface ListedModel extends Pick<ListSource, 'from' | 'to'> {
  architecture: string;
  version: string;
  /** Size of all files, as far as the list states it: to be downloaded or, in models.json, of the unpacked weights. */
  bytes: number;
  /** `length`: bytes to be downloaded; `integrity`: of the unpacked file, as in LoadOptions. */
  files: Record<string, { url: string; length?: number; integrity?: string }>;
}

/** A Translator, a Classifier, a Tagger or a Trainer. */
export interface WorkerOwner {
  /** Build of the module and threads of the worker. */
  readonly info: { readonly build: WasmBuild; readonly threads: number };
  /** Frees the model, and ends the worker if this was its last one. Calling it twice is harmless. */
  dispose(): void;
}

/** Addresses of the package's files, if they are not next to each other as in its folder dist. */
export interface FileOptions {
  /**
   * The address of a copy of dist/worker/worker.js, for bundlers that do not emit workers. Without `wasmURL`, the
   * worker expects a copy of the folder dist/wasm at ../wasm. Default: the file beside the package's own.
   */
  workerURL?: string | URL | undefined;
  /** The address of a copy of the folder dist/wasm, such as 'assets/wasm/'. Default: found from the worker's script. */
  wasmURL?: string | URL | undefined;
}

/** Options of the worker that runs a model. */
export interface WorkerOptions extends FileOptions {
  /**
   * Threads to compute with, from 1 to 64. 'auto', the default, takes one per core, up to 8, in Node and on pages that
   * are cross-origin isolated, and 1 elsewhere. The results are the same for every number.
   */
  threads?: number | 'auto' | undefined;
  /**
   * The most bytes that the module's memory may take, at least 32 MiB. Several threads share a memory that is reserved whole,
   * which phones and small containers may refuse. Work that needs more is rejected with the code 'out-of-memory'. Default: 2
   * GiB with several threads, which is the most for them, and 4 GiB with one.
   */
  maximumMemory?: number | undefined;
  /**
   * Use the worker of this object, with its threads and memory, instead of starting another. Calls of both take turns;
   * an error that stops the module stops both.
   */
  shareWith?: WorkerOwner | undefined;
}

/** Options of fetch() with these names. */
export interface RequestSettings {
  /** Such as { Authorization: 'Bearer …' }. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** 'include' sends cookies to other origins, too. */
  credentials?: 'omit' | 'same-origin' | 'include' | undefined;
}

/** A store of models, like a Cache of Cache Storage: a Response for each key, which is an address. */
export interface ModelStore {
  match(key: string): Promise<Response | undefined>;
  put(key: string, response: Response): Promise<void>;
  /** Returns whether there was one. */
  delete(key: string): Promise<boolean>;
  keys(): Promise<readonly { url: string }[]>;
}

export interface LoadOptions extends WorkerOptions {
  /** Called with the bytes received, of all files together; `total` is missing if a server does not send it. */
  onProgress?: ((loaded: number, total?: number) => void) | undefined;
  /** Aborting ends the download and rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /**
   * Store the model: in Cache Storage, or in Node in a folder wasmformer-models of XDG_CACHE_HOME or ~/.cache. Default:
   * true for http(s) URLs if there is Cache Storage, and always for converted models (the converted file is cached).
   * Or store it in a store of your own, which the worker uses while the model is loaded.
   */
  cache?: boolean | ModelStore | undefined;
  /**
   * Bytes that the stored models may take together: those that were used longest ago are deleted, and a larger model is
   * not stored. Only loads that give it note when a model was used.
   */
  cacheLimit?: number | undefined;
  /** For models that a server gives only to some: sent with each request to the host of the model or of the list. */
  requestInit?: RequestSettings | undefined;
  /**
   * Accept only this file: 'sha256-…', 'sha384-…' or 'sha512-…' in base64, as in a script's integrity attribute. Of a model
   * of Hugging Face or of a list, the digest of its weights: model.safetensors, or else the .bin file, unpacked.
   */
  integrity?: string | undefined;
  /** Precision in which a converted model is stored. Default 'int8'; a Trainer's `from` has 'f32'. */
  precision?: 'f32' | 'f16' | 'int8' | undefined;
  /**
   * The folder that has the files of models by name, such as de-en.safetensors; a file with the wrong SHA-256
   * is refused, unless `integrity` accepts it. Default: in Node, Deno and Bun the installed package; in browsers the
   * package on jsDelivr.
   */
  modelsURL?: string | URL | undefined;
  /** The host of Hugging Face models. Default 'https://huggingface.co'. */
  hubURL?: string | URL | undefined;
  /** @deprecated use hubURL */
  hub?: string | URL | undefined;
}

/** Download that loading a model would need. */
export interface Estimate {
  /** Bytes of all files; 0 if the model is stored here, missing if a server does not say it. */
  download?: number;
  /** True if load() would need no download: the model is a local file, given bytes, or stored by an earlier load(). */
  isStored: boolean;
}

/** A model that load() has stored in this browser; loading its URL again needs no download. */
export interface StoredModel {
  url: string;
  bytes: number;
}
