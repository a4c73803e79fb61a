// HTML as text: what is not a run of text with inline markup stays byte for byte.
import { refuseOfSentence, show } from '../shared/checks.js';
import { WasmformerTypeError } from '../shared/errors.js';
import type { HtmlTranslation, SentenceTranslator } from '../shared/webpage-types.js';
import { inline, isTranslatable, kept, InlineRun, saysTranslate, scripts, single, type Item, type Piece } from './inline-run.js';
import { translateRuns } from './markup.js';
import { Tokenizer } from './html-tokenizer.js';

const empty = new Set(`area base basefont bgsound br col embed frame hr img input keygen link meta param source track
  wbr`.split(/\s+/));

/** Elements whose content is not markup, up to the end of the page if they are never closed. */
const raw = new Set('iframe noembed noframes plaintext script style textarea xmp'.split(' '));

const none = new Map<string, string>();

/** A part of the markup; what is of no other kind, such as a doctype, is 'other'. */
interface Token {
  kind: 'text' | 'open' | 'close' | 'comment' | 'other';
  name: string;
  start: number;
  end: number;
  /** For text: its characters, with entities decoded. */
  text: string;
  /** The index of the matching closing or opening tag; -1 if it is missing. */
  match: number;
  /** The attributes of an opening tag, decoded. */
  attributes: Map<string, string>;
}

/** Index after the end, as browsers see it, of the tag whose name ends at `from`; -1 if it is never closed. */
function endOfTag(html: string, from: number): number {
  const attribute = /[ \t\n\f\r/]*([^ \t\n\f\r/>][^ \t\n\f\r/>=]*([ \t\n\f\r]*=[ \t\n\f\r]*("[^"]*"?|'[^']*'?|[^ \t\n\f\r>]*))?)?/y;
  attribute.lastIndex = from;
  while (attribute.test(html) && html[attribute.lastIndex] !== '>') if (attribute.lastIndex >= html.length) return -1;
  return attribute.lastIndex + 1;
}

function tokensOf(html: string): Token[] {
  const tokens: Token[] = [];
  for (let start = 0; start < html.length;) start += tokenize(html.slice(start), start, tokens);
  return tokens;
}

const ignore = () => {};

// Length: one handler for each kind of token, all of which share how far the text has been read.
/** Adds the tokens of `html`, which stands at `offset`, and returns how much of it they are. */
function tokenize(html: string, offset: number, tokens: Token[]): number {
  let position = 0;
  // Whatever the tokenizer is silent about goes to the next token.
  const add = (kind: Token['kind'], end: number, part: Partial<Token> = {}) => {
    const [start, attributes] = [offset + position, kind === 'open' ? values : none];
    const token: Token = { kind, name: '', start, end: offset + end, text: '', match: -1, attributes };
    if (end > position) tokens.push({ ...token, ...part });
    position = Math.max(position, end);
  };
  const before = (start: number) => add('other', start);
  let name = '';
  let attribute = '';
  let values = none;
  const addValue = (value: string) => values.set(attribute, values.get(attribute)! + value);
  const endTag = (end: number) => add('open', end + 1, { name });
  const tokenizer = new Tokenizer({ decodeEntities: true }, {
    ontext(start, end) {
      before(start);
      add('text', end, { text: html.slice(start, end) });
    },
    ontextentity(code, end) {
      before(html.lastIndexOf('&', end - 1));
      add('text', end, { text: String.fromCodePoint(code) });
    },
    onopentagname(start, end) {
      before(start - 1);
      name = html.slice(start, end).toLowerCase();
      values = new Map();
    },
    onattribname(start, end) {
      attribute = html.slice(start, end).toLowerCase();
      if (values.has(attribute)) attribute = ''; // the first one counts
      values.set(attribute, '');
    },
    onattribdata: (start, end) => addValue(html.slice(start, end)),
    onattribentity: (code) => addValue(String.fromCodePoint(code)),
    onopentagend: endTag,
    onselfclosingtag: endTag,
    onclosetag(start, end) {
      before(html.lastIndexOf('<', start - 1));
      const last = endOfTag(html, end);
      if (last < 0) add('other', html.length);
      else add('close', last, { name: html.slice(start, end).toLowerCase() });
      // The tokenizer ends the tag at the first `>`, even in quotes: another tokenizer continues after the real end.
      if (html.indexOf('>', end) + 1 !== position) tokenizer.pause();
    },
    oncomment(start, end) {
      before(html.lastIndexOf('<', start - 1));
      // A comment without an end must stay where it is, since it would hide what comes after it.
      add(/--!?>$/.test(html.slice(position, end + 1)) ? 'comment' : 'other', end + 1);
    },
    oncdata: (_, end) => add('other', end + 1),
    ondeclaration: (_, end) => add('other', end + 1),
    onprocessinginstruction: (_, end) => add('other', end + 1),
    onattribend: ignore, onend: () => before(html.length),
  });
  tokenizer.write(html);
  tokenizer.end();
  return position;
}

/** Finds the pairs of tags; a tag that closes an outer element leaves the inner ones without an end. */
function matchTags(tokens: Token[]): void {
  const open: number[] = [];
  tokens.forEach((token, i) => {
    if (token.kind === 'open' && !empty.has(token.name)) open.push(i);
    if (token.kind !== 'close') return;
    let at = open.length - 1;
    while (at >= 0 && tokens[open[at]!]!.name !== token.name) at--;
    if (at < 0) return;
    token.match = open[at]!;
    tokens[token.match]!.match = i;
    open.length = at;
  });
}

/** An inline element as it was written; of one that moves as a whole only `whole` is used. */
type Element = Record<'open' | 'close' | 'whole', string>;

/** The markup in order: strings stay as they are. */
type Part = string | InlineRun<Element>;

const saysOf = ({ attributes }: Token) => saysTranslate(attributes.get('translate'));
const isMarkedAsKept = (token: Token) =>
  saysOf(token) === false || token.attributes.get('class')?.split(/[ \t\n\f\r]/).includes('notranslate');

/** Index of the first element from `from` on that is translated although its surroundings are not; -1 if none is. */
function translatedIn(all: readonly Token[], from: number, to: number): number {
  for (let i = from; i < to; i++) {
    const token = all[i]!;
    if (token.kind !== 'open' || token.match < i) continue;
    if (kept.has(token.name)) i = token.match;
    else if (saysOf(token) && !isMarkedAsKept(token)) return i;
  }
  return -1;
}

const deepest = 50; // elements around a word: deeper nesting ends runs

/** The tokens of the markup. An untranslated element, or each untranslated stretch of one, is a single token. */
function withKeptWhole(html: string): Token[] {
  const all = tokensOf(html);
  matchTags(all);
  const tokens: Token[] = [];
  /** The ends of translated elements inside kept ones, and the ends of those. */
  const around: { inner: number; outer: number }[] = [];
  /** Adds what is kept as one token, up to the tag at `outer` or into an element that is translated: to its tag. */
  const keep = (from: number, outer: number): number => {
    const inner = kept.has(all[from]!.name) ? -1 : translatedIn(all, from + 1, outer);
    const last = inner < 0 ? outer : inner;
    const name = all[from]!.match === last ? all[from]!.name : '';
    tokens.push({ ...all[from]!, name, kind: 'other', end: all[last]!.end, match: -1 });
    if (inner >= 0) around.push({ inner: all[inner]!.match, outer });
    return last;
  };
  for (let i = 0; i < all.length; i++) {
    const token = all[i]!;
    const isKept = token.kind === 'open' && (kept.has(token.name) || isMarkedAsKept(token));
    if (around.at(-1)?.inner === i) i = keep(i, around.pop()!.outer);
    else if (isKept && token.match > i) i = keep(i, token.match);
    else if (isKept && raw.has(token.name)) {
      tokens.push({ ...token, kind: 'other', end: html.length });
      break;
    } else tokens.push({ ...token, match: -1 });
  }
  matchTags(tokens);
  return tokens;
}

/** Returns whether a token of a tag can stand inside a run. */
const isInline = ({ kind, name, match }: Token) =>
  inline.has(name) && (match >= 0 || kind === 'other' || (kind === 'open' && empty.has(name)));

/** Tokens that end a run. */
function endsOf(tokens: readonly Token[]): boolean[] {
  let depth = 0;
  const ends = tokens.map((token) => {
    const { kind, match } = token;
    if (kind === 'text' || kind === 'comment') return false;
    const isPart = isInline(token);
    const isDeep = depth > deepest;
    if (isPart && match >= 0) depth += kind === 'open' ? 1 : -1;
    return !isPart || isDeep;
  });
  // An inline element with the end of a run inside ends runs too; inner ones close first.
  let last = -1;
  tokens.forEach(({ kind, match }, i) => {
    if (kind === 'close' && !ends[i] && last > match) ends[i] = ends[match] = true;
    if (ends[i]) last = i;
  });
  return ends;
}

function partsOf(html: string): Part[] {
  const tokens = withKeptWhole(html);
  const ends = endsOf(tokens);
  const parts: Part[] = [];
  let first = 0;
  const flush = (end: number) => {
    const members = tokens.slice(first, end);
    first = end + 1;
    if (members.length === 0) return;
    const verbatim = html.slice(members[0]!.start, members.at(-1)!.end);
    if (!members.some(({ kind, text }) => kind === 'text' && isTranslatable(text))) return void parts.push(verbatim);
    const items = members.map((token) => itemOf(html, token, tokens[token.match]));
    // The run's own white space at its ends is no part of a sentence.
    const [begin, last] = [items[0]!, items.at(-1)!];
    const head = begin.kind === 'text' ? /^[ \t\n\f\r]*/.exec(verbatim)![0] : '';
    const tail = last.kind === 'text' ? /[ \t\n\f\r]*$/.exec(verbatim)![0] : '';
    if (begin.kind === 'text') begin.text = begin.text.slice(head.length);
    if (last.kind === 'text') last.text = last.text.slice(0, last.text.length - tail.length);
    parts.push(head, new InlineRun(items), tail);
  };
  tokens.forEach((token, i) => {
    if (!ends[i]) return;
    flush(i);
    parts.push(html.slice(token.start, token.end));
  });
  flush(tokens.length);
  return parts;
}

function itemOf(html: string, token: Token, closing: Token | undefined): Item<Element> {
  const { kind, name, start, end, text, attributes } = token;
  if (kind === 'text' || kind === 'close') return { kind, text };
  const open = html.slice(start, end);
  if (!closing) return { kind: 'atom', handle: { open, close: '', whole: open }, isSeen: kind !== 'comment' && name !== 'wbr' };
  const handle = { open, close: html.slice(closing.start, closing.end), whole: html.slice(start, closing.end) };
  return { kind: 'open', handle, isSingle: single.has(name) || Boolean(attributes.get('id')), isScript: scripts.has(name) };
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\u00a0': '&nbsp;' };

function print(piece: Piece<Element>): string {
  if (piece.kind === 'text') return piece.text.replace(/[&<>\u00a0]/g, (character) => escapes[character]!);
  return piece.handle[piece.kind === 'atom' ? 'whole' : piece.kind];
}

/**
 * Translates the text in HTML, a whole page or a part of one; tags stay around the words that they belong to.
 * @throws as translate() does, and for options that are about one sentence
 */
export async function translateHtml(
  html: unknown, translator: SentenceTranslator, options: { signal?: AbortSignal },
): Promise<HtmlTranslation> {
  if (typeof html !== 'string') throw new WasmformerTypeError('html', `the markup must be a string, not ${show(html)}`);
  refuseOfSentence('html', 'markup', options);
  const parts = partsOf(html);
  const runs = parts.filter((part) => typeof part !== 'string');
  const texts = new Map<InlineRun<Element>, string>();
  const take = (pieces: Piece<Element>[], i: number) => texts.set(runs[i]!, pieces.map(print).join(''));
  const found = await translateRuns(runs, translator, options, take);
  const sentences = [...found].map(([source, { text, quality } = { text: source }]) =>
    ({ source, text, ...(quality && { quality }) }));
  return { text: parts.map((part) => (typeof part === 'string' ? part : texts.get(part)!)).join(''), sentences };
}
