// What the standard says of Translator and LanguageDetector, and what browsers are tested for: the same checks run in Node,
// in pages and in workers, so they need nothing but `wasmformer/standard` and a model.
import { ofDetector } from './of-detector.mjs';
import { ofTranslator } from './of-translator.mjs';
import { during, languages, wordDetector } from './support.mjs';

/**
 * Where they run. `standard`: what the entry exports; `address`: its address, for frames; `model`: a model from German to
 * English, and `options` for it; `words`: of each language that the detector knows.
 * @typedef {{ standard: object, address?: string, model: string, options?: object, words: Record<string, readonly string[]> }} Place
 */

const ofAll = Object.entries({ ...ofTranslator, ...ofDetector });

/** The names of all checks. */
export const names = ofAll.map(([name]) => name);

/**
 * Runs one check in a place that has registered nothing; throws an Error that says what is wrong.
 * @param {string} name
 * @param {Place} place
 */
export async function check(name, { standard, model, options, words, address }) {
  const undo = [standard.registerPair('de', 'en', model, options)];
  if (name in ofDetector) undo.push(standard.registerDetector(wordDetector(words), { languages: Object.keys(words) }));
  const create = (more) => standard.Translator.create({ ...languages, ...more });
  const createDetector = (options) => standard.LanguageDetector.create(options);
  await during(() => undo.forEach((one) => one()), async () => {
    await Object.fromEntries(ofAll)[name]({ standard, model, words, address, create, createDetector });
  });
}

/** The words of the detector that the checks register. */
export const words = {
  de: ['das', 'ist', 'buch', 'du', 'im', 'haus', 'hast', 'die'],
  en: ['this', 'is', 'the', 'book', 'that', 'you', 'have', 'in', 'house'],
  fr: ['die', 'le', 'livre', 'est', 'dans', 'la', 'maison'],
};

/**
 * The checks that fail in this place, with what they say; `place` as in check(). `host`: a Translator of the package, whose
 * worker has the models of all checks, so that not each of them starts one.
 */
export async function failures(place, host) {
  const found = {};
  for (const name of names) {
    await check(name, { ...place, options: { shareWith: host } }).catch((error) => (found[name] = String(error.message ?? error)));
  }
  host.dispose();
  return found;
}
