// Texts with their languages, from catalogues, help pages, manuals and language packs in packages of Debian.
import { gunzipSync } from 'node:zlib';
import { mo } from 'gettext-parser';
import { Parser } from 'htmlparser2';
import { shown } from '../prepare/catalogues.mjs';
import { filesOfPackage, filesOfZip } from './archives.mjs';

const isCompressed = (bytes) => bytes[0] === 0x1f && bytes[1] === 0x8b;

const lines = (text) => text.split('\n').map(shown);

/** Messages that are translated: a catalogue may repeat the English one. German catalogues also give the English. */
function *messages({ bytes }, locale) {
  const entries = Object.values(mo.parse(bytes).translations).flatMap((context) => Object.values(context));
  for (const { msgid, msgstr } of entries.filter(({ msgid }) => msgid)) {
    for (const line of msgstr.filter((text) => text !== msgid).flatMap(lines)) yield [locale, line];
    if (locale === 'de') for (const line of lines(msgid)) yield ['en', line];
  }
}

const unread = new Set([
  'script', 'style', 'code', 'pre', 'tt', 'cmd', 'app', 'info', 'screen', 'link', 'aside', 'header',
]);
const blocks = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'li', 'td', 'dt', 'dd', 'div', 'title', 'item', 'section']);

/** The paragraphs of a page in HTML or in GNOME's format. */
function paragraphs(bytes, isXml) {
  const found = [];
  let text = '', depth = 0;
  const flush = () => {
    found.push(text);
    text = '';
  };
  const parser = new Parser({
    onopentag(name) {
      if (unread.has(name)) depth += 1;
      else if (blocks.has(name)) flush();
    },
    onclosetag(name) {
      if (unread.has(name)) depth -= 1;
      else if (blocks.has(name)) flush();
    },
    ontext(more) {
      if (depth === 0) text += more;
    },
  }, { xmlMode: isXml, decodeEntities: true });
  parser.end(bytes.toString('utf8'));
  flush();
  return found;
}

/** The lines of a manual page that are text: no requests, no marks of fonts. */
function manualLines(bytes) {
  const text = (isCompressed(bytes) ? gunzipSync(bytes) : bytes).toString('utf8');
  if (text.includes('\ufffd')) return [];
  const joined = text.replace(/\\f(\[\w*\]|\(..|.)/g, '').split(/\n(?=[.'])|\n\n/);
  return joined.map((part) => part.replace(/^[.'].*\n?/, '').replace(/\\[-&|^]/g, '').replace(/\n/g, ' '));
}

/** The values of a Fluent or properties file. */
const values = (bytes) => bytes.toString('utf8').split('\n')
  .filter((line) => !line.startsWith('#')).map((line) => line.replace(/^\s*[\w.-]+\s*=/, ''));

function *languagePack({ bytes }) {
  for (const { path, bytes: content } of filesOfZip(bytes)) {
    if (/\.(ftl|properties)$/.test(path)) yield* values(content);
  }
}

// The kinds of files: the first group of the pattern is the locale.
const kinds = [
  [/\/([^/]+)\/LC_MESSAGES\/(?!iso_(?:3166[-_]2|639[-_][35]))[^/]+\.mo$/, messages],
  [/\/libreoffice\/help\/([^/]+)\/text\/[^.]+\.html$/, ({ bytes }) => paragraphs(bytes, false)],
  [/\/share\/help\/([^/]+)\/.*\.page$/, ({ bytes }) => paragraphs(bytes, true)],
  [/\/doc\/installation-guide-amd64\/([^/]+)\/[^/]+\.html$/, ({ bytes }) => paragraphs(bytes, false)],
  [/\/share\/man\/([^/]+)\/man\d\/[^/]+$/, ({ bytes }) => manualLines(bytes)],
  [/langpack-([^@]+)@firefox[^/]*\.xpi$/, languagePack],
];

const noise = [
  /https?:\S*|\S*@\S*|\S*[\\/_=]\S*/g, // addresses, paths, identifiers
  /<[^>]*>|&#?\w+;/g, // tags and entities
  /%[-+ #0]*[\d.*$]*[a-zA-Z]+|\$?\{[^}]*\}|\$\w+/g, // placeholders
  /\b--?\w[\w-]*/g, // options of programs
];
const cleaned = (text) =>
  noise.reduce((rest, pattern) => rest.replace(pattern, ' '), text).replace(/\s+/gu, ' ').trim();

/** Pairs of a locale, as the package names it, and a text. */
export function *textsOfPackage(file) {
  for (const entry of filesOfPackage(file)) {
    for (const [pattern, read] of kinds) {
      const [, locale] = pattern.exec(entry.path) ?? [];
      if (!locale) continue;
      for (const found of read(entry, locale)) {
        const [language, text] = Array.isArray(found) ? found : [locale, found];
        yield [language, cleaned(text)];
      }
    }
  }
}
