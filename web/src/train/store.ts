// Stored runs: a record and its checkpoint, written together or not at all.
import { createStore, delMany, entries, getMany, set, setMany, type UseStore } from 'idb-keyval';
import type { RunRecord } from './record';

const store = createStore('wasmformer-runs', 'runs');
/** Commits at once: WebKit never ends a transaction of a page that has been left, and later pages would wait for it. */
const runs: UseStore = (mode, use) =>
  store(mode, (objects) => {
    const done = use(objects);
    objects.transaction.commit();
    return done;
  });

let takesBlobs: Promise<boolean> | undefined;
/** WebKit's private windows can't store Blobs; putting one after other values hangs the transaction. */
const canStoreBlobs = () =>
  (takesBlobs ??= set('blob', new Blob(['?']), runs).then(
    () => true,
    () => false,
  ));

/** Rejects where the browser has no room for it, or forbids its storage. */
export async function keepRun(record: RunRecord, checkpoint: Blob): Promise<void> {
  const file = (await canStoreBlobs()) ? checkpoint : await checkpoint.arrayBuffer();
  return setMany(
    [
      [`run:${record.id}`, record],
      [`file:${record.id}`, file],
    ],
    runs,
  );
}

/** Changes the record of a run that is kept; others are left alone. */
export async function changeRun(id: string, change: (record: RunRecord) => RunRecord): Promise<void> {
  const key = `run:${id}`;
  const [known] = await getMany<RunRecord | undefined>([key], runs);
  if (known) await set(key, change(known), runs);
}

/** The latest first. */
export async function storedRuns(): Promise<RunRecord[]> {
  const all = await entries<string, RunRecord>(runs);
  return all
    .filter(([key]) => key.startsWith('run:'))
    .map(([, record]) => record)
    .sort((a, b) => b.created - a.created);
}

export async function readRun(id: string): Promise<{ record: RunRecord; file: Blob } | null> {
  const [record, file] = await getMany<RunRecord | Blob | ArrayBuffer | undefined>([`run:${id}`, `file:${id}`], runs);
  return record && file ? { record: record as RunRecord, file: new Blob([file as Blob | ArrayBuffer]) } : null;
}

export const deleteRun = (id: string) => delMany([`run:${id}`, `file:${id}`], runs);

/** Keeps other tabs from the run until what it resolves to is called; null where another tab does so. */
export function holdRun(id: string): Promise<(() => void) | null> {
  if (!('locks' in navigator)) return Promise.resolve(() => {}); // a page without TLS
  return new Promise((resolve, reject) => {
    navigator.locks
      .request(`wasmformer-run:${id}`, { ifAvailable: true }, (lock) =>
        lock ? new Promise<void>((letGo) => resolve(letGo)) : resolve(null),
      )
      .catch(reject);
  });
}
