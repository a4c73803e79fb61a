// What the fuzzed readers need besides the damaged bytes, in environment variables for readers.cpp: the reader's number
// and undamaged folders.
import { join } from 'node:path';

const fixture = (name) => join(import.meta.dirname, '../fixtures', name);
export const folders = {
  MARIAN_FOLDER: fixture('marian/tiny'),
  BERT_FOLDER: fixture('bert/bert-classify'),
  STUDENT_FOLDER: fixture('marian/student'),
};
// At every exception, AddressSanitizer goes through the stack frames it has kept of functions that have returned. Keeping
// fewer, and fewer callers of each allocation, makes the readers twice as fast.
export const environment = (reader) =>
  ({ ...process.env, ...folders, READER: String(reader), ASAN_OPTIONS: 'max_uar_stack_size_log=16:malloc_context_size=4' });

/** Whether a reader reads nothing but its input each time. */
export const isShort = (reader) => reader < 6 || reader >= 18;

/** The longest input of a reader, in bytes: those that are not short read tokenizers too, those of students models. */
export const longestInput = (reader) => (isShort(reader) ? 4096 : reader < 14 ? 65_536 : 262_144);
