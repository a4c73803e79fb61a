// What the fuzzed readers need beside the damaged bytes, by the environment variables of readers.cpp: the number of the
// reader, and folders that are whole.
import { join } from 'node:path';

const fixture = (name) => join(import.meta.dirname, '../fixtures', name);
export const folders = {
  MARIAN_FOLDER: fixture('marian/tiny'),
  BERT_FOLDER: fixture('bert/bert-classify'),
  STUDENT_FOLDER: fixture('marian/student'),
};
export const environment = (reader) => ({ ...process.env, ...folders, READER: String(reader) });

/** Whether a reader reads nothing but its input. */
export const isShort = (reader) => reader < 6 || reader >= 18;

/** The longest input of a reader, in bytes: other readers also read tokenizers, those of students whole models. */
export const longestInput = (reader) => (isShort(reader) ? 4096 : reader < 14 ? 65_536 : 262_144);
