// Labels, and messages of programs, from gettext catalogues in packages of Debian: a folder has, for each, a folder of its
// name with files such as usr/share/locale/de/LC_MESSAGES/NAME.mo.
import { existsSync, readFileSync, readdirSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { mo } from 'gettext-parser';
import { drawn, key, tidy } from '../corpus.mjs';

const locales = { de: ['de'], fr: ['fr'], zh: ['zh_CN', 'zh_Hans'] };
// Names of all regions of the world, and of all languages: most are the same in each language.
const leftOut = /^iso_(3166[-_]2|639[-_][35])\.mo$/;

/** A tenth of all labels is never learned, by their English or their other side: they measure labels. */
export const isHeldOut = (text) => drawn(key(text), 'label') < 0.05;

const mnemonic = /[_~&](?=[\p{L}\p{N}])/gu;
/** A message as a user sees it: without marks of keys and, in Chinese, the keys in brackets. */
export const shown = (text) => tidy(text.replace(/[(（][_~&]\w[)）]/gu, '').replace(mnemonic, ''));

/** Throws an error that says how to get the packages that are missing. */
function requirePackages(folder, packages) {
  const missing = packages.filter((name) => !existsSync(join(folder, name)));
  if (missing.length === 0) return;
  throw new Error(`${folder} has no ${missing.join(', ')}; there: apt-get download ${missing.join(' ')}\n`
    + `for file in *.deb; do dpkg-deb -x $file \${file%%_*}; done`);
}

/** Each catalogue of a package with the program it belongs to: links, and other regions of a language, belong to the same. */
function *catalogues(folder, language) {
  for (const entry of readdirSync(folder, { recursive: true }).sort()) {
    const [, locale, name] = /(?:^|\/)([^/]+)\/LC_MESSAGES\/([^/]+\.mo)$/.exec(entry) ?? [];
    if (!name || !locales[language].includes(locale) || leftOut.test(name)) continue;
    const file = realpathSync(join(folder, entry));
    yield { ...mo.parse(readFileSync(file)), program: basename(file) };
  }
}

const isUsable = (text) => text.length > 1 && text.length < 300 && !text.includes('\n') && /\p{L}/u.test(text);

/** English, translation and the catalogue's program. */
function *messages(folder, packages, language) {
  const all = packages.flatMap((name) => [...catalogues(join(folder, name), language)]);
  for (const { translations, program } of all) {
    const entries = Object.values(translations).flatMap((context) => Object.values(context));
    for (const { msgid, msgstr } of entries) {
      const pair = [msgid, msgstr[0] ?? ''].map(shown);
      if (msgid && pair.every(isUsable)) yield [...pair, program];
    }
  }
}

/** Of rival translations only those about as frequent as the best. */
export function readCatalogues(folder, packages, language) {
  requirePackages(folder, packages);
  const counts = new Map();
  for (const [english, other] of messages(folder, packages, language)) {
    const rivals = counts.get(english) ?? new Map();
    counts.set(english, rivals.set(other, (rivals.get(other) ?? 0) + 1));
  }
  const pairs = [], held = [];
  for (const [english, rivals] of counts) {
    const most = Math.max(...rivals.values());
    for (const [other, count] of rivals) {
      if (2 * count < most || key(english) === key(other)) continue;
      (isHeldOut(english) || isHeldOut(other) ? held : pairs).push([english, other]);
    }
  }
  return { pairs, held };
}

/** Labels kept aside that the catalogues of at least two programs translate alike. */
export function agreedLabels(folder, packages, language) {
  requirePackages(folder, packages);
  const labels = new Map(); // each with its translation and the programs that have both
  for (const [english, other, program] of messages(folder, packages, language)) {
    const name = `${english}\t${other}`;
    const label = labels.get(name) ?? { pair: [english, other], programs: new Set() };
    label.programs.add(program);
    labels.set(name, label);
  }
  const agreed = [...labels.values()].filter(({ programs }) => programs.size >= 2).map(({ pair }) => pair);
  return agreed.filter((pair) => key(pair[0]) !== key(pair[1]) && pair.some(isHeldOut));
}
