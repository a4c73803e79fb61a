// Sentence pairs out of whatever a visitor has. Runs in a worker, so that the page stays fluent; every refusal is one
// sentence of `bad`, which the page says in its language.
import { dsvFormat } from 'd3-dsv';
import type { SentencePair } from 'wasmformer';
import { decode, Refusal } from '../shared/text/decode';
import { fileAt } from '../shared/text/file-at';
import type { Input, Made, Reason, Table, Wish } from '../shared/text/table';

const SHOWN = 5;

const joined = (text: string) => text.replace(/\r\n?/g, '\n').replace(/\n+$/, '');

/** How many columns most rows have, and the share of the rows that have so many. */
function shape(rows: readonly (readonly string[])[]): { columns: number; share: number } {
  const counts = new Map<number, number>();
  const some = rows.filter((row) => row.length > 1 || row[0]?.trim()).slice(0, 1000);
  for (const { length } of some) counts.set(length, (counts.get(length) ?? 0) + 1);
  const [columns, count] = [...counts].reduce((most, next) => (next[1] > most[1] ? next : most), [0, 0]);
  return { columns, share: count / some.length };
}

/** Cells in quotes as in RFC 4180, unless there are quotes that such a table cannot have: then they are text. */
function parse(text: string, delimiter: string): string[][] {
  const odd = new RegExp(`(^|[\\${delimiter}\n])"[^"]*(""[^"]*)*("[^\\${delimiter}\n"]|$)`);
  if (odd.test(text)) return text.split('\n').map((line) => line.split(delimiter));
  return dsvFormat(delimiter).parseRows(text);
}

/** Signs that people write between a word and its translation. */
const SIGNS = [/\s*(?:→|⇒|->|=>)\s*/, /\s+=\s+/, /\s+[-–—]\s+/, /\s*=\s*/];
const SIGNED = 0.9; // share of the lines that have such a sign

/** Two columns, where nearly every line has the same sign once between two sides. */
function sidesOf(lines: readonly string[]): string[][] | null {
  const some = lines.filter((line) => line.trim());
  const isPair = (sides: readonly string[]) => sides.length === 2 && sides.every((side) => side.trim());
  const sign = SIGNS.find((one) => some.filter((line) => isPair(line.split(one))).length >= SIGNED * some.length);
  return sign ? lines.map((line) => line.split(sign)) : null;
}

/**
 * Rows and columns of a text: by tabs, by signs between two sides, or by semicolons, bars or commas; or by what Excel's
 * first line says.
 */
function columnsOf(text: string, name: string): string[][] {
  if (!text.trim()) throw new Refusal('none', { name });
  const [line, named] = /^sep=(.)\n/i.exec(text) ?? [''];
  const body = text.slice(line.length);
  const head = body.slice(0, 200_000).replace(/(.)\n.*$/, '$1'); // whole lines
  const isTable = /\.(csv|tsv)(\.gz)?$/i.test(name) || named !== undefined || head.includes('\t');
  const sides = isTable ? null : sidesOf(body.split('\n'));
  if (sides) return sides;
  const least = /\.csv(\.gz)?$/i.test(name) ? 0.5 : 0.9;
  const [best] = [...(named ?? '\t;|,')]
    .map((delimiter) => ({ delimiter, ...shape(parse(head, delimiter)) }))
    // The commas of sentences make no columns: their number differs from line to line.
    .filter(({ delimiter, columns, share }) => columns > 1 && (delimiter === '\t' || share >= least))
    .sort((a, b) => Number(b.delimiter === '\t') - Number(a.delimiter === '\t') || b.share - a.share);
  if (!best) throw new Refusal('oneColumn', { name });
  return parse(body, best.delimiter);
}

const codes = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });
const isCode = (cell = '') => /^[a-z]{2,3}$/i.test(cell) && codes.of(cell) !== undefined;
const more = '([ _-](text|sentence|language))?$';
const NAMES = [
  new RegExp(`^(source|src|from|input|question|original)${more}`, 'i'),
  new RegExp(`^(target|tgt|to|output|answer|translation)${more}`, 'i'),
  new RegExp(`^(id|text|sentence|english|german|french|chinese|deutsch|英文|中文)${more}`, 'i'),
];

/** Whether a row has names of columns: two of them at least, and in half of its cells. */
function isHeader(row: readonly string[]): boolean {
  const names = row.filter((cell) => isCode(cell.trim()) || NAMES.some((pattern) => pattern.test(cell.trim())));
  return names.length > 1 && names.length * 2 >= row.length;
}

function tableOf(name: string, rows: readonly (readonly string[])[]): Table {
  const { columns } = shape(rows);
  const first = rows[0].map((cell) => cell.trim());
  const header = isHeader(first) && !rows.slice(1, 50).some(isHeader); // or these are words, such as other rows have
  const some = rows.slice(Number(header), 200);
  const places = Array.from({ length: columns }, (_, place) => place);
  // Numbers, dates and addresses are no sentences.
  const texts = places.filter(
    (place) =>
      some.filter((row) => /\p{L}/u.test(row[place] ?? '') && !/^https?:/.test(row[place])).length * 2 > some.length,
  );
  const named = (pattern: RegExp) => (header ? places.find((place) => pattern.test(first[place] ?? '')) : undefined);
  const candidates = texts.length > 1 ? texts : places;
  const source = named(NAMES[0]) ?? candidates.find((place) => place !== named(NAMES[1]))!;
  const target = named(NAMES[1]) ?? candidates.find((place) => place !== source) ?? (source === 0 ? 1 : 0);
  return { name, rows, columns, header, source, target };
}

export async function read({ files, text, url }: Input): Promise<Table> {
  if (url !== undefined) {
    const rows = joined(await decode(await fileAt(url), url)).split('\n').map((line) => line.split('\t'));
    return { name: url, rows, columns: 2, header: false, source: 0, target: 1 };
  }
  if (text !== undefined) return tableOf('', columnsOf(joined(text), ''));
  const name = files!.map((file) => file.name).join(', ');
  if (files!.length === 1) return tableOf(name, columnsOf(joined(await decode(files![0], name)), name));
  const sides = await Promise.all(files!.map(async (file) => joined(await decode(file, file.name)).split('\n')));
  if (sides[0].length !== sides[1].length) {
    throw new Refusal('lines', {
      a: files![0].name,
      b: files![1].name,
      linesA: sides[0].length,
      linesB: sides[1].length,
    });
  }
  const sideNames = files!.map((file) =>
    file.name
      .replace(/\.(txt|gz)$/gi, '')
      .split('.')
      .at(-1)!,
  );
  const header = sideNames.every(isCode); // the files' names serve for one
  const rows = sides[0].map((line, place) => [line, sides[1][place]]);
  return { name, rows: header ? [sideNames, ...rows] : rows, columns: 2, header, source: 0, target: 1 };
}

const asPair = (line: string) => line.split('\t') as unknown as SentencePair;

/** A row's source and target as a line, or why the row is no pair. */
function lineOf(cells: readonly string[], wish: Wish): { line: string } | { why: Reason } {
  const { source, target, lowercase, longest } = wish;
  const sides = [cells[source], cells[target]].map((cell) => cell?.replace(/\s+/g, ' ').trim());
  if (sides.some((side) => side === undefined)) return { why: 'missing' };
  if (sides.includes('')) return { why: 'empty' };
  if (sides.some((side) => side.length > longest)) return { why: 'long' };
  const line = sides.join('\t');
  return { line: lowercase ? line.toLowerCase() : line };
}

/** The pairs of a table, and what was left out. */
export function make({ name, rows }: Table, wish: Wish): Made {
  const { source, target, header, validationFrom = Infinity } = wish;
  const odd: Made['odd'] = {};
  const lines: string[] = [];
  const validation: SentencePair[] = [];
  const known = new Set<string>();
  const leave = (why: Reason, row: number) => {
    const found = (odd[why] ??= { count: 0, rows: [] });
    if (found.count++ < SHOWN) found.rows.push({ row: row + 1, text: rows[row].join(' · ').slice(0, 120) });
  };
  const keep = (line: string, row: number) => {
    known.add(line);
    if (row < validationFrom) lines.push(line);
    else validation.push(asPair(line));
  };
  for (let row = Number(header); row < rows.length; ++row) {
    const cells = rows[row];
    if (cells.length === 1 && !cells[0].trim()) continue; // empty lines do not count
    const found = lineOf(cells, wish);
    if ('why' in found) leave(found.why, row);
    else if (known.has(found.line)) leave('twice', row);
    else keep(found.line, row);
  }
  if (lines.length < 2) throw new Refusal('tooFew', { name, count: lines.length });
  const languages = header ? [rows[0][source], rows[0][target]].map((code) => code?.trim().toLowerCase()) : [''];
  return {
    pairs: lines.length,
    tsv: lines.join('\n'),
    validation,
    odd,
    preview: lines.slice(0, SHOWN).map(asPair),
    languages: languages.every(isCode) ? languages.join('-') : '',
  };
}
