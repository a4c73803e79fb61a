// Written by bindings/tools/generate-types.mjs. Do not edit.

export interface DescribedError {
  code: string;
  message: string;
  sentence: string;
  details: Record<string, string | number>;
}

export interface Folder {
  names: string[];
  files: Uint8Array[];
}

export interface TokenizerOptions {
  vocabSize: number;
  type: string;
  normalization: string;
  hardVocabLimit: boolean;
}

/** The functions of the extras module. */
export interface NativeExtras {
  describeException(_0: unknown): DescribedError;
  folderFiles(_0: string[]): string[];
  readFolder(_0: string[], _1: Uint8Array[], _2: string, _3: string): Uint8Array;
  trainTokenizer(_0: string[], _1: TokenizerOptions): Uint8Array;
  writeMarian(_0: Uint8Array, _1: string): Folder;
  writeOnnx(_0: Uint8Array): Folder;
}
