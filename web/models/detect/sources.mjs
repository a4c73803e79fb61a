// Texts with their languages, from catalogues, help pages, manuals, games and word lists in packages of Debian and npm.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { mo } from 'gettext-parser';
import { Parser } from 'htmlparser2';
import { shown } from '../prepare/catalogues.mjs';
import { filesOfPackage, filesOfTar, filesOfZip } from './archives.mjs';

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

/** The messages of a wiki's programs, without its markup. Names of people, under @metadata, are no messages. */
function *wikiMessages({ bytes }, locale) {
  const found = Object.values(JSON.parse(bytes.toString('utf8')));
  for (const message of found.filter((value) => typeof value === 'string')) {
    const plain = message.replace(/\{\{[^{}]*\}\}|\[\[(?:[^[\]|]*\|)?|\]\]|'{2,}/g, ' ');
    for (const line of plain.split('\n')) yield [locale, line];
  }
}

/** What a game's figures say; the English text stands beside each. */
function *dialogs({ bytes }, locale) {
  const script = bytes.toString('utf8');
  const quoted = (pattern) => [...script.matchAll(pattern)].map(([, text]) => text.replace(/\\./g, ' '));
  for (const text of quoted(/dialogStr\("((?:[^"\\]|\\.)*)"\)/g)) yield [locale, text];
  if (locale === 'cs') for (const text of quoted(/dialogId\([^,]*,[^,]*, "((?:[^"\\]|\\.)*)"\)/g)) yield ['en', text];
}

/** What a picture shows: a line in English, then lines such as `de.utf8=Ein Hund.` */
function *captions({ bytes }) {
  const [english, ...others] = bytes.toString('utf8').split('\n');
  yield ['en', english];
  for (const line of others) {
    const [, locale, text] = /^([\w@-]+)\.utf8=(.*)$/.exec(line) ?? [];
    if (locale) yield [locale, text];
  }
}

/** Sayings, separated by lines with a percent sign; what follows two hyphens is their author. */
function *sayings({ bytes }, locale) {
  const text = bytes.toString('utf8');
  if (text.includes('\ufffd') || text.includes('\0')) return;
  for (const saying of text.split(/\n%\n/)) yield [locale, saying.replace(/\s--[^]*$/, '')];
}

/** Names of what small pictures show, and words for them. */
function *pictureNames({ bytes }, locale) {
  const { annotations = {} } = JSON.parse(bytes.toString('utf8')).annotations;
  for (const { default: words = [], tts = [] } of Object.values(annotations)) {
    yield [locale, [...tts, ...words].join(', ')];
  }
}

/** The commonest words of each language, some in a line, those of similar spelling in different lines. */
const WORDS_IN_LINE = 8;

function *commonWords({ bytes }) {
  for (const [locale, words] of Object.entries(JSON.parse(bytes.toString('utf8')))) {
    const count = Math.ceil(words.length / WORDS_IN_LINE);
    for (let line = 0; line < count; line++) yield [locale, words.filter((_, i) => i % count === line).join(' ')];
  }
}

/** What is code and no language. */
export const CODE = 'code';
const codeSigns = /[(){};$=<>]/g;
const EVERY = 10;
const SHORTEST = 12;

/** Some lines of a program, without comments. */
function *codeLines({ bytes }) {
  const lines = bytes.toString('utf8').split('\n').map((line) => line.trim());
  const isCode = (line) => !/^[*/#]/.test(line) && (line.match(codeSigns)?.length ?? 0) > 1;
  const code = lines.filter((line) => line.length > SHORTEST && isCode(line));
  for (const line of code.filter((_, i) => i % EVERY === 0)) yield [CODE, line.replace(/\s+/g, ' ')];
}

// The kinds of files: the first group of the pattern is the locale.
const kinds = [
  [/\/mediawiki\/(?:.*\/)?i18n\/(?:[\w-]+\/)*([a-z-]+)\.json$/, wikiMessages],
  [/\/(mediawiki)\/(?:includes|resources\/src)\/.*\.(?:php|js|css|less)$/, codeLines],
  [/\/fillets-ng\/script\/.*dialogs_([a-z]{2}(?:_BR)?)\.lua$/, dialogs],
  [/\/(tuxpaint)\/stamps\/.*\.txt$/, captions],
  [/\/fortunes\/([a-z]{2})\/[^.]+(?:\.fortunes)?$/, sayings],
  [/\/annotations\/([\w-]+)\/annotations\.json$/, pictureNames],
  [/\/(stopwords)-iso\.json$/, commonWords],
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
  for (const entry of file.endsWith('.tgz') ? filesOfTar(gunzipSync(readFileSync(file))) : filesOfPackage(file)) {
    for (const [pattern, read] of kinds) {
      const [, locale] = pattern.exec(entry.path) ?? [];
      if (!locale) continue;
      for (const found of read(entry, locale)) {
        const [language, text] = Array.isArray(found) ? found : [locale, found];
        yield [language, language === CODE ? text : cleaned(text)];
      }
    }
  }
}
