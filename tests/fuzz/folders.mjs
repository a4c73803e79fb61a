// What the fuzzed readers need beside the damaged bytes: folders that are whole, by the environment variables of readers.cpp.
import { join } from 'node:path';

const fixture = (name) => join(import.meta.dirname, '../fixtures', name);
export const folders = {
  MARIAN_FOLDER: fixture('marian/tiny'),
  BERT_FOLDER: fixture('bert/bert-classify'),
  STUDENT_FOLDER: fixture('marian/student'),
};

/** The longest input of a reader, in bytes: those from the sixth on read tokenizers, those of students whole models. */
export const longestInput = (reader) => (reader < 6 ? 4096 : reader < 14 ? 65_536 : 262_144);
