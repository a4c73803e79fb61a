// Holds the tables, so that other columns and filters need no second reading.
import { pageReason } from '../shared/words/page-error';
import { Refusal } from '../shared/text/decode';
import { make, read } from './read-pairs';
import type { Values } from '../shared/words/language';
import type { Bad, Input, Made, Table, Wish } from '../shared/text/table';

/** With `input`, reads that table again; it replaces the old one only if it contains pairs. */
export interface Ask {
  id: number;
  key: string;
  input?: Input;
  wish: Partial<Wish>;
}

/** The text stays out of the page until it is trained on: to copy it there takes too long for the page. */
export type Sent = Omit<Made, 'tsv'> & { tsv: Blob };

/** Facts about a table for the page, without its rows. */
export interface Facts extends Omit<Table, 'rows'> {
  titles: string[];
}

export interface Answer {
  id: number;
  facts?: Facts;
  made?: Sent;
  bad?: Bad;
  values?: Values;
}

const tables = new Map<string, Table>();

addEventListener('message', async ({ data: { id, key, input, wish } }: MessageEvent<Ask>) => {
  let answer: Answer;
  try {
    const table = input ? await read(input) : tables.get(key)!;
    const made = make(table, { ...table, lowercase: false, longest: 500, ...wish });
    tables.set(key, table);
    const { rows, ...facts } = table;
    const titles = Array.from({ length: facts.columns }, (_, place) => rows[0][place]?.trim().slice(0, 24) ?? '');
    answer = { id, facts: { ...facts, titles }, made: { ...made, tsv: new Blob([made.tsv]) } };
  } catch (error) {
    const { bad, values } = error instanceof Refusal ? error : new Refusal('failed', { reason: pageReason(error) });
    answer = { id, bad, values };
  }
  postMessage(answer);
});
