// Detects the language of a text of the visitor's own.
import { isExample } from './examples';
import type { Detect } from './other-language';

const load = async () => (await import('./other-language')).loadDetect();

export class TextLanguage {
  #detect = $state.raw<Detect | null>(null);
  #isAsked = false;
  readonly #load: () => Promise<Detect>;

  constructor(load: () => Promise<Detect>) {
    this.#load = load;
  }

  /** Loads the detector for the first text of the visitor's own. If that fails, nothing is ever said of a text. */
  async prepare(text: string): Promise<void> {
    if (this.#isAsked || text.trim() === '' || isExample(text)) return;
    this.#isAsked = true;
    this.#detect = await this.#load().catch(() => null);
  }

  /**
   * The language that a text is in instead of the expected one; null if that is not clear, for examples, and until the
   * detector is there.
   */
  other(text: string, expected: string): string | null {
    return this.#detect && !isExample(text) ? this.#detect(text, expected) : null;
  }
}

export const createTextLanguage = () => new TextLanguage(load);
