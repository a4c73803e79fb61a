// The text of a pipeline part by part.
import { WasmformerError, WasmformerTypeError } from '../shared/errors.js';

/** With the interface of Transformers.js's TextStreamer; `tokenizer` may be anything. */
export class TextStreamer {
  readonly #onText: ((text: string) => void) | undefined;

  constructor(
    _tokenizer?: unknown,
    options: { callback_function?: (text: string) => void; [other: string]: unknown } = {},
  ) {
    this.#onText = options.callback_function;
  }

  /** Called for each new part of the text; subclasses may replace it. */
  on_finalized_text(...[text]: [text: string, isEnd: boolean]): void {
    if (text !== '') this.#onText?.(text);
  }
}

/** Options that send a streamer the new part of one text after each step, and a function to call at the end. */
export function streaming(streamer: TextStreamer, texts: string | readonly string[]) {
  if (typeof (streamer as Partial<TextStreamer>).on_finalized_text !== 'function') {
    throw new WasmformerTypeError('pipeline', 'streamer must be a TextStreamer of wasmformer/pipeline');
  }
  if ([texts].flat().length !== 1) throw new WasmformerError('pipeline', 'a streamer takes one text');
  let sent = '';
  const send = (text: string, isEnd: boolean) => {
    const isLonger = text.startsWith(sent);
    streamer.on_finalized_text(isLonger ? text.slice(sent.length) : '', isEnd);
    if (isLonger) sent = text;
  };
  const onPartial = (partial: string | string[]) => send([partial].flat()[0]!, false);
  return { options: { beamSize: 1, onPartial }, end: (text: string) => send(text, true) };
}
