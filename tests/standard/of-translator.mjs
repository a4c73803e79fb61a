// What the standard says of Translator.
import {
  aborts, book, during, ends, equal, invalidTags, isCanonical, languages, ok, openFrame, read, rejects, several,
  stopsProgress, tellsProgress, throwsOfMonitor, variations, withActivation, withGlobal,
} from './support.mjs';

/** Checks of Translator, by name; each gets the registered `create` and its environment. */
export const ofTranslator = {
  'a text is translated': async ({ create }) => {
    const translator = await create();
    equal(await translator.translate(book.source), book.translation);
    equal(Object.prototype.toString.call(translator), '[object Translator]');
    translator.destroy();
  },
  'a text of several sentences is translated as a stream of parts that are the whole': async ({ create }) => {
    const translator = await create();
    const stream = translator.translateStreaming(several);
    equal(Object.prototype.toString.call(stream), '[object ReadableStream]');
    const parts = await read(stream);
    equal(parts.length, 3);
    equal(parts.join(''), await translator.translate(several));
    ok(parts.join('').includes(book.translation), parts.join(''));
    translator.destroy();
  },
  'the dot of an abbreviation ends no part of a stream': async ({ create }) => {
    const translator = await create();
    const parts = await read(translator.translateStreaming('Guten Tag, Dr. Müller. Wo ist mein Buch?'));
    equal(parts.length, 2);
    translator.destroy();
  },
  'several translations and streams at the same time give what each gives alone': async ({ create }) => {
    const translator = await create();
    const alone = [await translator.translate(book.source), await translator.translate(several)];
    const sources = [book.source, book.source, several];
    const expected = [alone[0], alone[0], alone[1]];
    equal(await Promise.all(sources.map((text) => translator.translate(text))), expected);
    const streams = await Promise.all(sources.map((text) => read(translator.translateStreaming(text))));
    equal(streams.map((parts) => parts.join('')), expected);
    translator.destroy();
  },
  'a stream goes on when nothing else holds its translator': async ({ create }) => {
    const stream = await create().then((translator) => translator.translateStreaming(several));
    globalThis.gc?.();
    const reader = stream.getReader();
    let text = '';
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += part.value;
      globalThis.gc?.();
    }
    ok(text.includes(book.translation), text);
  },
  'it has the languages that it was made for': async ({ create }) => {
    const translator = await create();
    equal([translator.sourceLanguage, translator.targetLanguage], ['de', 'en']);
    translator.destroy();
  },
  'create: a signal ends it, whenever it aborts': ({ create }) => aborts((signal) => create({ signal })),
  'translate: a signal ends it, whenever it aborts': async ({ create }) => {
    const translator = await create();
    await aborts((signal) => translator.translate(book.source, { signal }));
    equal(await translator.translate(book.source), book.translation);
    translator.destroy();
  },
  'measureInputUsage: a signal ends it, whenever it aborts': async ({ create }) => {
    const translator = await create();
    await aborts((signal) => translator.measureInputUsage(book.source, { signal }));
    translator.destroy();
  },
  'translateStreaming: a signal ends the stream, and one that has aborted throws': async ({ create }) => {
    const translator = await create();
    for (const reason of [undefined, new DOMException('enough', 'VersionError')]) {
      const controller = new AbortController();
      const stream = translator.translateStreaming(several, { signal: controller.signal });
      controller.abort(reason);
      await rejects(stream.pipeTo(new WritableStream()), reason ?? 'AbortError');
      await rejects(new Promise(() => translator.translateStreaming(several, { signal: controller.signal })), reason ?? 'AbortError');
    }
    translator.destroy();
  },
  'translateStreaming: a stream that is cancelled lets the next translation begin at once': async ({ create }) => {
    const translator = await create();
    const reader = translator.translateStreaming(several.repeat(100)).getReader();
    await reader.read();
    await reader.cancel();
    equal(await translator.translate(book.source), book.translation);
    translator.destroy();
  },
  'destroy and the signal of create end translate and measureInputUsage': ({ create }) =>
    ends(create, [(one) => one.translate(book.source), (one) => one.measureInputUsage(book.source)]),
  'destroy ends a stream': async ({ create }) => {
    const translator = await create();
    const stream = translator.translateStreaming(several);
    translator.destroy();
    translator.destroy();
    await rejects(stream.pipeTo(new WritableStream()), 'AbortError');
  },
  'destroying one translator leaves another one of the same languages': async ({ create }) => {
    const [one, other] = await Promise.all([create(), create()]);
    one.destroy();
    equal(await other.translate(book.source), book.translation);
    other.destroy();
  },
  'create tells its monitor of the download, in rising steps': ({ create }) => tellsProgress(create),
  'create tells its monitor of a model that is there already': async ({ create }) => {
    const translator = await create();
    await tellsProgress(create);
    translator.destroy();
  },
  'create tells its monitor nothing after an abort': ({ create }) => stopsProgress(create),
  'create is rejected with what its monitor throws': ({ create }) => throwsOfMonitor(create),
  'ondownloadprogress is called as a listener is': async ({ create }) => {
    const numbers = [];
    const monitor = (target) => {
      target.ondownloadprogress = () => ok(false, 'replaced');
      target.ondownloadprogress = ({ loaded }) => numbers.push(loaded);
      equal(typeof target.ondownloadprogress, 'function');
    };
    (await create({ monitor })).destroy();
    equal([numbers[0], numbers.at(-1)], [0, 1]);
  },
  'what has nothing to translate comes back as it is, and does not keep other text from being translated': async ({ create }) => {
    const translator = await create();
    const nothing = ['', ' ', '     ', ' \r\n\t\f', ...Array.from({ length: 0x1f }, (_, code) => String.fromCharCode(code))];
    equal(await Promise.all(nothing.map((text) => translator.translate(text))), nothing);
    equal((await read(translator.translateStreaming(' \n'))).join(''), ' \n');
    equal(await read(translator.translateStreaming('')), []);
    const some = nothing.map((text) => `Hallo ${text} Welt`);
    const found = await Promise.all(some.map((text) => translator.translate(text)));
    for (const [i, text] of found.entries()) ok(text !== some[i], `${JSON.stringify(text)} is not translated`);
    translator.destroy();
  },
  'without a quota every text is within it, and uses nothing': async ({ create }) => {
    const translator = await create();
    equal([translator.inputQuota === Infinity, await translator.measureInputUsage(several)], [true, 0]);
    translator.destroy();
  },
  'a text beyond the quota is refused with both numbers': async ({ standard, model, create }) => {
    await during(standard.registerPair('de', 'en', model, { inputQuota: 12 }), async () => {
      const translator = await create();
      equal(translator.inputQuota, 12);
      const [short, long] = [await translator.measureInputUsage(book.source), await translator.measureInputUsage(several)];
      ok(short > 1 && short <= 12 && long > 12, `${short} and ${long}`);
      ok(await translator.measureInputUsage(several.repeat(200)) > 150 * long, 'the usage grows with the text');
      equal(await translator.translate(book.source), book.translation);
      const error = await rejects(translator.translate(several), 'QuotaExceededError');
      equal([error.quota, error.requested], [12, long]);
      if (globalThis.QuotaExceededError) ok(error instanceof globalThis.QuotaExceededError, 'the class of the browser');
      await rejects(translator.translateStreaming(several).pipeTo(new WritableStream()), 'QuotaExceededError');
      translator.destroy();
    });
  },
  'languages that nobody has registered are unavailable, and create says so': async ({ standard: { Translator } }) => {
    const wanted = { sourceLanguage: 'sw', targetLanguage: 'cy' };
    equal(await Translator.availability(wanted), 'unavailable');
    await rejects(Translator.create(wanted), 'NotSupportedError');
  },
  'missing languages are TypeErrors': async ({ standard: { Translator } }) => {
    for (const call of [Translator.create, Translator.availability]) {
      for (const wanted of [undefined, { sourceLanguage: 'de' }, { targetLanguage: 'de' }]) await rejects(call(wanted), 'TypeError');
    }
  },
  'invalid language tags are RangeErrors': async ({ standard: { Translator } }) => {
    for (const call of [Translator.create, Translator.availability]) {
      for (const tag of invalidTags) {
        await rejects(call({ sourceLanguage: tag, targetLanguage: 'en' }), 'RangeError');
        await rejects(call({ sourceLanguage: 'de', targetLanguage: tag }), 'RangeError');
      }
    }
  },
  'tags of the same language are as available as the language': async ({ standard: { Translator } }) => {
    const available = await Translator.availability(languages);
    for (const sourceLanguage of variations.de) for (const targetLanguage of variations.en) {
      equal(await Translator.availability({ sourceLanguage, targetLanguage }), available, `${sourceLanguage} ${targetLanguage}`);
    }
  },
  'a translator for any tag of a language has canonical tags of that language': async ({ create }) => {
    for (const [i, sourceLanguage] of variations.de.entries()) {
      const translator = await create({ sourceLanguage, targetLanguage: variations.en[i % variations.en.length] });
      for (const [tag, language] of [[translator.sourceLanguage, 'de'], [translator.targetLanguage, 'en']]) {
        isCanonical(tag);
        equal(new Intl.Locale(tag).language, language);
      }
      translator.destroy();
    }
  },
  'a language is translated into itself by doing nothing': async ({ standard: { Translator } }) => {
    const wanted = { sourceLanguage: 'en-US', targetLanguage: 'en-GB' };
    equal(await Translator.availability(wanted), 'available');
    await tellsProgress((options) => Translator.create({ ...wanted, ...options }));
    const translator = await Translator.create(wanted);
    equal([translator.sourceLanguage, translator.targetLanguage], ['en-US', 'en-GB']);
    equal(await translator.translate(several), several);
    equal(await read(translator.translateStreaming(several)), [several]);
    translator.destroy();
  },
  'the constructor cannot be called': async ({ standard: { Translator } }) => {
    await rejects((async () => new Translator())(), 'TypeError');
  },
  'a frame that has been removed gets InvalidStateErrors': async ({ standard, address, create }) => {
    const isPage = typeof document === 'object';
    const frame = isPage && await openFrame(address);
    const { Translator, LanguageDetector } = isPage ? frame.contentWindow.standard : standard;
    const translator = isPage
      ? await Translator.create({ sourceLanguage: 'en', targetLanguage: 'en-GB' })
      : await create();
    const calls = async () => [
      Translator.availability(languages), Translator.create(languages), LanguageDetector.availability(), LanguageDetector.create(),
      translator.translate(book.source), translator.measureInputUsage(book.source),
      new Promise(() => translator.translateStreaming(book.source)),
      // Each in a promise of this page: in Firefox, one of a removed frame cannot be awaited.
    ].map((promise) => new Promise((resolve) => promise.then(() => resolve('no error'), ({ name }) => resolve(name))));
    frame?.remove?.();
    // Elsewhere there are no frames, so the document is made up.
    const found = await (isPage ? calls() : withGlobal('document', { defaultView: null }, calls));
    equal(await Promise.all(found), Array(7).fill('InvalidStateError'));
  },
  'a download needs a click, and what is there does not': async ({ standard }) => {
    const { Translator } = standard;
    let open;
    const own = () => new Promise((resolve) => (open = () => resolve({ translateText: async (text) => ({ text: text.toUpperCase() }) })));
    const wanted = { sourceLanguage: 'de', targetLanguage: 'tlh' };
    await during(standard.registerPair('de', 'tlh', own), async () => {
      equal(await Translator.availability(wanted), 'downloadable');
      await withActivation(standard, false, () => rejects(Translator.create(wanted), 'NotAllowedError'));
      const made = withActivation(standard, true, () => Translator.create(wanted));
      while (!open) await new Promise((resolve) => setTimeout(resolve));
      equal(await Translator.availability(wanted), 'downloading');
      open();
      const translator = await made;
      equal(await Translator.availability(wanted), 'available');
      const another = await withActivation(standard, false, () => Translator.create(wanted));
      equal(await another.translate('ja'), 'JA');
      translator.destroy();
      another.destroy();
      equal(await Translator.availability(wanted), 'downloadable');
    });
  },
};
