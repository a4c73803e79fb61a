// What the checks of the standard share. They run in pages and workers too, so there is nothing of Node here.

export const languages = { sourceLanguage: 'de', targetLanguage: 'en' };
export const book = { source: 'Wo ist mein Buch?', translation: "Where's my book?" };
export const several = 'Guten Morgen. Wo ist mein Buch? Ich habe einen Hund.';

export function equal(actual, expected, what = 'value') {
  const [a, b] = [actual, expected].map((value) => JSON.stringify(value) ?? String(value));
  if (a !== b) throw new Error(`${what}: ${a}, not ${b}`);
}
export function ok(condition, what) {
  if (!condition) throw new Error(what);
}
/** Checks that a promise is rejected with exactly this value, or with an error of this name. */
export async function rejects(promise, expected) {
  const [error] = await Promise.resolve(promise).then(() => [], (error) => [error, true]);
  ok(error !== undefined, `not rejected with ${expected}`);
  if (typeof expected !== 'string') return ok(error === expected, `rejected with ${error}, not ${expected}`);
  equal(error.name, expected, 'name of the error');
  if (!['TypeError', 'RangeError'].includes(expected)) ok(error instanceof DOMException, `${error} is no DOMException`);
  return error;
}

export async function read(stream) {
  const parts = [];
  for (const reader = stream.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) return parts;
    parts.push(value);
  }
}

/** A call with an option `signal` ends with the signal's reason, at once and when it is called again. */
export async function aborts(call) {
  for (const reason of [undefined, new Error('enough')]) {
    const controller = new AbortController();
    const promise = call(controller.signal);
    controller.abort(reason);
    await rejects(promise, reason ?? 'AbortError');
    await rejects(call(controller.signal), reason ?? 'AbortError');
  }
}

/** destroy(), or the signal of create(), ends calls that are going on and later ones. */
export async function ends(create, calls) {
  const destroyed = await create();
  const before = calls.map((call) => call(destroyed));
  destroyed.destroy();
  for (const promise of [...before, ...calls.map((call) => call(destroyed))]) await rejects(promise, 'AbortError');

  const controller = new AbortController();
  const aborted = await create({ signal: controller.signal });
  const reason = new Error('the signal of create');
  const pending = calls.map((call) => call(aborted));
  controller.abort(reason);
  for (const promise of [...pending, ...calls.map((call) => call(aborted))]) await rejects(promise, reason);
}

/** The events of a monitor go from 0 to 1, and none comes after create(). */
export async function tellsProgress(create) {
  const events = [];
  let isCreated = false;
  const made = await create({
    monitor(target) {
      target.addEventListener('downloadprogress', (event) => {
        ok(!isCreated, 'an event after create()');
        events.push(event);
      });
    },
  });
  isCreated = true;
  made.destroy();
  const numbers = events.map(({ loaded }) => loaded);
  ok(numbers.length >= 2, `${numbers.length} events`);
  equal([numbers[0], numbers.at(-1)], [0, 1]);
  for (const [i, event] of events.entries()) {
    equal([event.type, event.total, event.lengthComputable], ['downloadprogress', 1, true]);
    equal(event.loaded % (1 / 0x10000), 0, 'rounded to a 65,536th');
    ok(i === 0 || event.loaded > numbers[i - 1], `not rising: ${numbers}`);
  }
}

export async function stopsProgress(create) {
  for (const place of [0, 1]) {
    const controller = new AbortController();
    const reason = new Error(`at ${place}`);
    let after = 0;
    let reached;
    const isThere = new Promise((resolve) => (reached = resolve));
    const monitor = (target) => target.addEventListener('downloadprogress', ({ loaded }) => {
      if (controller.signal.aborted) after++;
      if (loaded === place) reached();
    });
    const promise = create({ monitor, signal: controller.signal });
    promise.catch(() => {});
    await isThere;
    controller.abort(reason);
    await rejects(promise, reason);
    equal(after, 0, 'events after the abort');
  }
}

export async function throwsOfMonitor(create) {
  const reason = new Error('of the monitor');
  await rejects(create({
    monitor(target) {
      target.addEventListener('downloadprogress', () => ok(false, 'an event'));
      throw reason;
    },
  }), reason);
}

/** Settings and registrations are as they were when `act` is over. */
export async function during(undo, act) {
  try {
    return await act();
  } finally {
    undo();
  }
}

/** While `act` runs, a global is something else. */
export async function withGlobal(name, value, act) {
  const had = Object.getOwnPropertyDescriptor(globalThis, name);
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  return during(() => {
    if (had) Object.defineProperty(globalThis, name, had);
    else delete globalThis[name];
  }, act);
}

export async function withActivation(standard, isActive, act) {
  standard.configure({ userActivation: true });
  const undo = () => standard.configure({ userActivation: false });
  if (!globalThis.navigator) return during(undo, () => withGlobal('navigator', { userActivation: { isActive } }, act));
  const { navigator } = globalThis;
  Object.defineProperty(navigator, 'userActivation', { value: { isActive }, configurable: true });
  return during(() => {
    delete navigator.userActivation; // that of the prototype is there again
    undo();
  }, act);
}

/** A frame that has imported `wasmformer/standard` from an address, as `standard`. */
export async function openFrame(address) {
  const frame = document.createElement('iframe');
  const script = `import * as standard from ${JSON.stringify(address)}; globalThis.standard = standard;`;
  frame.srcdoc = `<script type="module">${script}</script>`;
  document.body.append(frame);
  while (!frame.contentWindow.standard) await new Promise((resolve) => setTimeout(resolve, 10));
  return frame;
}

export const variations = {
  de: ['de-Latn', 'de-Latn-CH', 'de-AT', 'de-1901', 'de-Latn-x-private-use', 'DE', 'de-lATN', 'DE-at'],
  en: ['en-Latn', 'en-Latn-GB', 'en-GB', 'en-fonipa-scouse', 'EN', 'EN-lATN-gb', 'EN-scouse-fonipa'],
};
export const invalidTags = ['d', 'Latn', 'deLatnATfonipa', '11', 'de_Latn', 'de-Lat', 'de-A999', ''];
export const isCanonical = (tag) => equal(String(new Intl.Locale(tag)), tag, 'canonical form');

/** A detector for tests: the share of the words that are a language's. */
export const wordDetector = (words) => () => ({
  languages: Object.keys(words),
  detect(text) {
    const found = text.toLowerCase().match(/\p{L}+/gu) ?? [];
    const share = (list) => found.filter((word) => list.includes(word)).length / Math.max(found.length, 1);
    return Object.entries(words).map(([language, list]) => ({ language, confidence: share(list) }));
  },
});
