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
    // The bytes at the end may be the beginning of a character, which the next step replaces.
    const ready = isEnd ? text : text.replace(/\ufffd+$/, '');
    const isRevised = !ready.startsWith(sent);
    // Sent text cannot be taken back: it continues where the two begin to differ.
    const rest = isRevised && !isEnd ? '' : ready.slice(sharedStart(sent, ready));
    streamer.on_finalized_text(rest, isEnd);
    if (!isRevised) sent = ready;
  };
  const onPartial = (partial: string | string[]) => send([partial].flat()[0]!, false);
  return { options: { beamSize: 1, onPartial }, end: (text: string) => send(text, true) };
}

/** Number of characters that two texts share at their beginning. */
function sharedStart(a: string, b: string): number {
  let count = 0;
  while (count < a.length && a[count] === b[count]) count++;
  return count;
}
