// The reports of a run, as log.jsonl has them after its first record.
import { readFileSync } from 'node:fs';

export const recordsIn = (file) => readFileSync(file, 'utf8').trim().split('\n').filter(Boolean).map((line) => JSON.parse(line));
export const reportsIn = (file) => recordsIn(file).filter(({ type }) => type !== 'run');
