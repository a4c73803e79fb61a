// What the fuzzed readers need besides the damaged bytes, in environment variables for readers.cpp: the reader's number
// and undamaged folders.
import { join } from 'node:path';

const fixture = (name) => join(import.meta.dirname, '../fixtures', name);
export const folders = {
  MARIAN_FOLDER: fixture('marian/tiny'),
  BERT_FOLDER: fixture('bert/bert-classify'),
  STUDENT_FOLDER: fixture('marian/student'),
};
export const environment = (reader) => ({ ...process.env, ...folders, READER: String(reader) });

/** Whether a reader reads nothing but its input each time. */
export const isShort = (reader) => reader < 6 || reader >= 18;

/** The longest input of a reader, in bytes: those that are not short read tokenizers too, those of students models. */
export const longestInput = (reader) => (isShort(reader) ? 4096 : reader < 14 ? 65_536 : 262_144);
