// `wasmformer/detect`: in which language a text is.
import { Detector, type Detection } from './detector.js';
import { readDetectorFile, type DetectorSource } from './file.js';

export { Detector, type Detection } from './detector.js';
export type { DetectorSource } from './file.js';

let installed: Promise<Detector> | undefined;

/**
 * Loads the model: that of the installed package `wasmformer-detect`, which stays loaded, or another one from its
 * address, its path (in Node) or its bytes.
 * @throws WasmformerError when it is not installed ('not-installed'), cannot be read ('read-failed', 'fetch-failed',
 * 'not-found', 'http-status') or is no such model ('not-a-model')
 * @example
 * const detector = await loadDetector();
 * detector.detect('Wo ist der nächste Bahnhof?')[0].language; // 'de'
 */
export async function loadDetector(source?: DetectorSource): Promise<Detector> {
  if (source !== undefined) return new Detector(await readDetectorFile(source));
  installed ??= readDetectorFile().then((bytes) => new Detector(bytes));
  try {
    return await installed;
  } catch (error) {
    installed = undefined; // it may be there the next time
    throw error;
  }
}

/**
 * Detects the languages that a text may be in, the likeliest first; `und` means none that the model knows. Needs the
 * installed package `wasmformer-detect`.
 * @throws as loadDetector()
 */
export async function detect(text: string): Promise<Detection[]> {
  return (await loadDetector()).detect(text);
}
