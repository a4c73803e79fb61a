// The public types for translating whole texts and pages: alignments, quality, HTML, live documents.
import type { KeptPart } from './text-parts.js';

/** Results to compute from attention and scores. */
export interface AlignmentOptions {
  /** Return which source tokens each target token comes from. Default false. */
  alignment?: boolean | undefined;
  /** Return how sure the model is of the sentence and of each word. Default false. */
  quality?: boolean | undefined;
}

/** text.slice(start, end), counted in UTF-16 units as JavaScript does. */
export interface TextRange {
  start: number;
  end: number;
}

/**
 * Alignment from cross-attention: in Firefox's models the head trained with guided alignment, otherwise the mean of all
 * heads above layer 1. These were not trained for alignment, so single words may be wrong.
 */
export interface Alignment {
  /** Range of each source token in the text that was given; the end token's is empty. */
  source: TextRange[];
  /** Range of each target token in the translation. */
  target: TextRange[];
  /** [target tokens, source tokens], row after row; each row sums to 1. */
  data: Float32Array;
}

/**
 * Mean log-probabilities (natural logarithms, at most 0), for comparing translations by the same model; exp() of such a
 * value is the geometric mean of token probabilities. `probability` says how often words with such a log-probability
 * occurred in the reference translations of the model's validation text; it is missing unless the model file has
 * 'quality_calibration'.
 */
export interface Quality {
  /** The mean of its words. */
  logProbability: number;
  /** @deprecated the same as logProbability */
  sentence: number;
  /** The mean of its words: the share of them to expect in a reference translation. */
  probability?: number;
  /** Words of the translation, each with the mean of its tokens; the end token belongs to none. */
  words: (TextRange & { logProbability: number; probability?: number })[];
}

/** Optional alignment and quality of a Translation. */
export interface WithAlignment {
  /** Only with `alignment`. */
  alignment?: Alignment;
  /** Only with `quality`. */
  quality?: Quality;
}

/** Minimal translation used by wasmformer/webpages. */
export interface SentenceTranslation extends WithAlignment {
  text: string;
  /** Copied parts, if the translator gives them. */
  kept?: readonly KeptPart[];
}

/** A Translator, a Trainer, or what pivot() and cached() return. `Found` is what a sentence's translation holds. */
export interface SentenceTranslator<Found extends SentenceTranslation = SentenceTranslation> {
  readonly info: { readonly languages?: string; readonly config?: { readonly max_length: number } };
  /** Resolves to one translation per sentence, in order; rejects with the signal's reason when aborted. */
  translate(
    sentences: readonly string[], options?: AlignmentOptions & { signal?: AbortSignal | undefined },
  ): Promise<Found[]>;
}

/** Detector of languages, such as the one of `wasmformer/detect`. */
export interface SentenceDetector {
  /** The likeliest first; confidences are from 0 to 1. */
  detect(text: string): readonly { language: string; confidence: number }[];
}

/** One text gives one result, several texts give an array of them, and HTML gives markup. */
export interface SentenceCall<Options, Found> {
  (html: string, options: Options & { html: true }): Promise<HtmlTranslation>;
  (text: string, options?: Options): Promise<Found>;
  (texts: readonly string[], options?: Options): Promise<Found[]>;
}

export interface HtmlTranslation {
  /** The markup with its text translated. */
  text: string;
  /** Each distinct sentence of it, in order, with its quality if asked for. */
  sentences: (SentenceTranslation & { source: string })[];
}

/** A Document, a DocumentFragment or an Element, for projects with the types of browsers and without. */
export interface PageNode {
  readonly nodeType: number;
  readonly nodeName: string;
}

export interface DocumentOptions {
  /** Translate what the page adds or changes later, too. Default false. */
  observe?: boolean | undefined;
  /** Aborting stops, and leaves what is translated; undo() restores it. */
  signal?: AbortSignal | undefined;
  /**
   * The language to translate from: 'auto' detects it for each sentence, as byLanguage() does, with the installed package
   * `wasmformer-detect`, and so does a detector of your own. Sentences that no translator reads stay as they are. Default:
   * the translator's language for all sentences; 'auto' if there are several translators.
   */
  source?: 'auto' | SentenceDetector | undefined;
}

/** A live page, or a part of it, that is being translated. */
export interface DocumentTranslation {
  /** Resolves when all that was there at the start is translated; rejects if that fails or is aborted. */
  readonly finished: Promise<void>;
  /** Stops, and restores the original text where the page has not changed it since. */
  undo(): void;
}
