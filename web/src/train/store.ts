// Stored runs: a record and its checkpoint, written together or not at all.
import { createStore, delMany, entries, get, setMany, type UseStore } from 'idb-keyval';
import type { RunRecord } from './record';

let store: UseStore | undefined;
const opened = () => (store ??= createStore('wasmformer-runs', 'runs'));

/** Rejects where the browser has no room for it, or forbids its storage. */
export function keepRun(record: RunRecord, checkpoint: Blob): Promise<void> {
  return setMany([[`run:${record.id}`, record], [`file:${record.id}`, checkpoint]], opened());
}

/** The latest first. */
export async function storedRuns(): Promise<RunRecord[]> {
  const all = await entries<string, RunRecord>(opened());
  return all.filter(([key]) => key.startsWith('run:')).map(([, record]) => record).sort((a, b) => b.created - a.created);
}

export function readCheckpoint(id: string): Promise<Blob | undefined> {
  return get<Blob>(`file:${id}`, opened());
}

export function deleteRun(id: string): Promise<void> {
  return delMany([`run:${id}`, `file:${id}`], opened());
}
