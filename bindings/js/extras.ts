// SentencePiece's trainer: the second module, loaded when a tokenizer is trained, and let go afterwards.
import { start } from './builds.js';
import { errorOf } from './errors.js';
import { type ExceptionHelpers, wellFormed } from './module.js';

/** What bindings/tokenizer.cpp declares. */
export interface NativeTokenizerModule {
  trainTokenizer(sentences: string[], vocabSize: number, type: string): Uint8Array;
}

/**
 * The bytes of a SentencePiece .model file, the same that the native program makes of these sentences.
 * Runs to its end without a pause, so call it in a worker. Throws where the text is too little for `vocabSize` pieces.
 */
export async function trainTokenizer(
  sentences: readonly string[],
  type: 'bpe' | 'unigram',
  vocabSize: number,
): Promise<Uint8Array> {
  const { module } = await start<NativeTokenizerModule & ExceptionHelpers>('tokenizer');
  try {
    return module.trainTokenizer(sentences.map(wellFormed), vocabSize, type);
  } catch (thrown) {
    throw errorOf(module, thrown);
  }
}
