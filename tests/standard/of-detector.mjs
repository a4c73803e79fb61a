// What the standard says of LanguageDetector.
import {
  aborts, during, ends, equal, invalidTags, isCanonical, ok, rejects, stopsProgress, tellsProgress,
  throwsOfMonitor, variations, withActivation, wordDetector,
} from './support.mjs';

const english = 'This is the book that you have in the house.';

/** Checks of LanguageDetector. */
export const ofDetector = {
  'a detector says the likeliest language first': async ({ createDetector }) => {
    const detector = await createDetector();
    const results = await detector.detect(english);
    equal(results[0].detectedLanguage, 'en');
    equal((await detector.detect('Das ist das Buch, das du im Haus hast.'))[0].detectedLanguage, 'de');
    equal(Object.prototype.toString.call(detector), '[object LanguageDetector]');
    detector.destroy();
  },
  'results fall, end with und, and sum to 1 at most': async ({ createDetector }) => {
    const detector = await createDetector();
    for (const text of [english, 'the Haus', 'das', 'Qwfp zxcd', '', '😀']) {
      const results = await detector.detect(text);
      const last = results.pop();
      equal(last.detectedLanguage, 'und');
      ok(last.confidence > 0, `und: ${last.confidence}`);
      let sum = 0;
      for (const [i, { detectedLanguage, confidence }] of results.entries()) {
        isCanonical(detectedLanguage);
        ok(confidence > 0 && confidence >= last.confidence && confidence <= (results[i - 1]?.confidence ?? 1), text);
        ok(sum < 0.99, `${text}: ${sum} before the last one`);
        sum += confidence;
      }
      ok(sum + last.confidence <= 1, `${text}: ${sum} + ${last.confidence}`);
    }
    detector.destroy();
  },
  'a text of no language that is known is und alone': async ({ createDetector }) => {
    const detector = await createDetector();
    for (const text of ['', ' \n', 'Qwfp zxcd']) equal((await detector.detect(text)).map(({ detectedLanguage }) => detectedLanguage), ['und']);
    detector.destroy();
  },
  'availability of a detector follows create': async ({ standard: { LanguageDetector }, createDetector }) => {
    equal(await LanguageDetector.availability(), 'downloadable');
    const detector = await createDetector();
    equal(await LanguageDetector.availability(), 'available');
    detector.destroy();
  },
  'a detector of its own needs a click to be downloaded': async ({ standard, createDetector }) => {
    await withActivation(standard, false, () => rejects(createDetector(), 'NotAllowedError'));
    const detector = await withActivation(standard, true, () => createDetector());
    (await withActivation(standard, false, () => createDetector())).destroy();
    detector.destroy();
  },
  'create of a detector: a signal ends it, whenever it aborts': ({ createDetector }) => aborts((signal) => createDetector({ signal })),
  'detect and measureInputUsage: a signal ends them, whenever it aborts': async ({ createDetector }) => {
    const detector = await createDetector();
    await aborts((signal) => detector.detect(english, { signal }));
    await aborts((signal) => detector.measureInputUsage(english, { signal }));
    detector.destroy();
  },
  'destroy and the signal of create end detect and measureInputUsage': ({ createDetector }) =>
    ends(createDetector, [(one) => one.detect(english), (one) => one.measureInputUsage(english)]),
  'create of a detector tells its monitor of the download, and nothing after an abort': async ({ createDetector }) => {
    await tellsProgress(createDetector);
    await stopsProgress(createDetector);
    await throwsOfMonitor(createDetector);
  },
  'a long text is within the quota of a detector, or refused': async ({ standard, words, createDetector }) => {
    const long = english.repeat(1000);
    const detector = await createDetector();
    equal([detector.inputQuota === Infinity, await detector.measureInputUsage(long)], [true, 0]);
    equal((await detector.detect(long))[0].detectedLanguage, 'en');
    detector.destroy();
    await during(standard.registerDetector(wordDetector(words), { inputQuota: 100 }), async () => {
      const limited = await createDetector();
      const error = await rejects(limited.detect(long), 'QuotaExceededError');
      equal([error.quota, error.requested], [100, long.length]);
      equal((await limited.detect(english))[0].detectedLanguage, 'en');
      limited.destroy();
    });
  },
  'expected languages are canonical, each once and frozen, and null if there are none': async ({ createDetector }) => {
    for (const expectedInputLanguages of [undefined, []]) {
      const detector = await createDetector({ expectedInputLanguages });
      equal(detector.expectedInputLanguages, null);
      detector.destroy();
    }
    for (const given of [['en', 'de'], ...variations.en.map((tag) => [tag])]) {
      const detector = await createDetector({ expectedInputLanguages: given });
      equal(detector.expectedInputLanguages.map((tag) => new Intl.Locale(tag).language), given.map((tag) => new Intl.Locale(tag).language));
      detector.expectedInputLanguages.forEach(isCanonical);
      ok(Object.isFrozen(detector.expectedInputLanguages), 'frozen');
      detector.destroy();
    }
    const detector = await createDetector({ expectedInputLanguages: variations.en });
    equal(new Set(detector.expectedInputLanguages).size, detector.expectedInputLanguages.length);
    detector.destroy();
  },
  'expected languages that the detector lacks make it unavailable': async ({ standard, createDetector }) => {
    const { LanguageDetector } = standard;
    for (const expectedInputLanguages of [['sw'], ['en', 'sw']]) {
      equal(await LanguageDetector.availability({ expectedInputLanguages }), 'unavailable');
      await rejects(createDetector({ expectedInputLanguages }), 'NotSupportedError');
    }
    for (const tag of variations.en) equal(await LanguageDetector.availability({ expectedInputLanguages: [tag] }), 'downloadable', tag);
    equal(await LanguageDetector.availability({ expectedInputLanguages: variations.en }), 'downloadable');
  },
  'invalid expected languages are RangeErrors': async ({ standard: { LanguageDetector } }) => {
    for (const call of [LanguageDetector.create, LanguageDetector.availability]) {
      for (const tag of invalidTags) await rejects(call({ expectedInputLanguages: [tag] }), 'RangeError');
      await rejects(call({ expectedInputLanguages: invalidTags }), 'RangeError');
    }
  },
};
