// Earlier names of types, which go on to work.
import type { RunChanges, SentencePair, LabeledText, TrainerConfig, TranslationSample } from './trainer-types.js';
import type { AnnotateMethod, Matrix, WasmBuild } from './types.js';
import type { WithAlignment } from './webpage-types.js';

/** @deprecated use AnnotateMethod */
export type AnnotateCall<Found> = AnnotateMethod<Found>;
/** @deprecated use Matrix */
export type NumberRows = Matrix;
/** @deprecated use LabeledText */
export type LabelledText = LabeledText;
/** @deprecated use RunChanges */
export type Changes = RunChanges;
/** @deprecated use SentencePair */
export type Pair = SentencePair;
/** @deprecated use TrainerConfig */
export type Settings = TrainerConfig;
/** @deprecated use TranslationSample */
export type Sample = TranslationSample;
/** @deprecated use WasmBuild */
export type Build = WasmBuild;
/** @deprecated use WithAlignment */
export type Aligned = WithAlignment;
