// In which language a typed text is. The detector's model is loaded when the first text is typed, not for the examples.
import { untrack } from 'svelte';
import type { Detector } from 'wasmformer/detect';
import modelURL from 'wasmformer-detect/detect.safetensors?url';
import { examples } from './examples';

/** With less confidence, nothing is said of a text. */
const SURE = 0.9;

const isExample = (text: string) => Object.values(examples).some((texts) => texts.includes(text));

type TextDetector = Pick<Detector, 'detect'>;

async function loadModel(): Promise<TextDetector> {
  const { loadDetector } = await import('wasmformer/detect');
  return loadDetector(new URL(modelURL, document.baseURI));
}

export class Detection {
  #detector = $state.raw<TextDetector | null>(null);
  #loading = false;
  readonly #loadModel: () => Promise<TextDetector>;

  constructor(load: () => Promise<TextDetector>) {
    this.#loadModel = load;
  }

  /** The language of a text, such as 'de'; null as long as the detector is not there, or where it is not sure. */
  languageOf(text: string): string | null {
    if (text.trim() === '' || isExample(text)) return null;
    if (!this.#detector) untrack(() => void this.#load());
    const [best] = this.#detector?.detect(text) ?? [];
    return best && best.language !== 'und' && best.confidence >= SURE ? best.language.split('-')[0] : null;
  }

  /** Without a connection there is no hint about languages, and the next text tries again. */
  async #load(): Promise<void> {
    if (this.#loading) return;
    this.#loading = true;
    try {
      this.#detector = await this.#loadModel();
    } catch {
      this.#loading = false;
    }
  }
}

export const createDetection = () => new Detection(loadModel);
