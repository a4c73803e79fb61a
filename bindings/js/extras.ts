// The second module, for what is done once: loaded when it is wanted, and let go afterwards.
import { start } from './builds.js';
import { errorOf } from './errors.js';
import { type ExceptionHelpers, wellFormed } from './module.js';

export interface NativeFolder {
  names: string[];
  files: Uint8Array[];
}

/** What bindings/extras.cpp declares. */
export interface NativeExtras {
  trainTokenizer(sentences: string[], options: { vocabSize: number; type: string; normalization: string }): Uint8Array;
  marianFiles(names: string[]): string[];
  readMarian(names: string[], files: Uint8Array[], languages: string, precision: string): Uint8Array;
  writeMarian(model: Uint8Array, precision: string): NativeFolder;
  writeOnnx(model: Uint8Array): NativeFolder;
}

/** What `use` makes with the module. It runs without a pause, so call it in a worker. Throws the module's errors. */
export async function withExtras<T>(use: (module: NativeExtras) => T): Promise<T> {
  const { module } = await start<NativeExtras & ExceptionHelpers>('extras');
  try {
    return use(module);
  } catch (thrown) {
    throw errorOf(module, thrown);
  }
}

/**
 * The bytes of a SentencePiece .model file, the same that the native program makes of these sentences.
 * Throws where the text is too little for `vocabSize` pieces.
 */
export function trainTokenizer(
  sentences: readonly string[],
  type: 'bpe' | 'unigram',
  vocabSize: number,
  normalization: 'nmt_nfkc' | 'identity' = 'nmt_nfkc',
): Promise<Uint8Array> {
  const options = { vocabSize, type, normalization };
  return withExtras((module) => module.trainTokenizer(sentences.map(wellFormed), options));
}
