// The pairs of the Train view: the visitor's own, and those that come with the page.
import type { Answer, Ask, Facts, Sent } from './pairs-worker';
import type { Values } from '../shared/words/language';
import { offline, PageError, pageReason } from '../shared/words/page-error';
import { MOST_BYTES, type Bad, type Input, type Wish } from '../shared/text/table';

export interface Source {
  facts: Facts;
  made: Sent;
  /** Columns and filters that `made` was made with, as JSON. */
  wish: string;
}

export class OwnPairs {
  sources = $state.raw<Record<string, Source>>({});
  problem = $state.raw<{ bad: Bad; values: Values } | null>(null);
  busy = $state(0);

  #worker: Worker | null = null;
  #waiting = new Map<number, (answer: Answer) => void>();
  #last = 0;

  /** The visitor's own, from a box, a drop or a file. What was there stays where these are no pairs. */
  take(input: Input, wish: Partial<Wish>): Promise<Source | null> {
    const { files = [], text = '' } = input;
    const big = files.find(({ size }) => size > MOST_BYTES)?.name ?? (text.length > MOST_BYTES ? '' : undefined);
    if (files.length > 2) return this.#refuse('files');
    if (big !== undefined) return this.#refuse('big', { name: big });
    return this.#make('own', wish, input);
  }

  /** The pairs of a table by other columns or filters; `url` is where it comes from if it is not here yet. */
  async make(key: string, wish: Partial<Wish>, url?: string): Promise<Source | null> {
    const there = this.sources[key];
    if (there?.wish === JSON.stringify(wish)) return there;
    return this.#make(key, wish, there || url === undefined ? undefined : { url });
  }

  async #make(key: string, wish: Partial<Wish>, input?: Input): Promise<Source | null> {
    this.busy += 1;
    const { facts, made, bad, values = {} } = await this.#ask({ key, input, wish });
    this.busy -= 1;
    if (!facts || !made) return this.#refuse(bad!, values);
    this.problem = null;
    const source = { facts, made, wish: JSON.stringify(wish) };
    this.sources = { ...this.sources, [key]: source };
    return source;
  }

  async #refuse(bad: Bad, values: Values = {}): Promise<null> {
    this.problem = { bad, values };
    return null;
  }

  #ask(question: Omit<Ask, 'id'>): Promise<Answer> {
    this.#worker ??= this.#start();
    const id = ++this.#last;
    this.#worker.postMessage({ ...question, id } satisfies Ask);
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  #start(): Worker {
    const worker = new Worker(new URL('./pairs-worker.ts', import.meta.url), { type: 'module' });
    worker.addEventListener('message', ({ data }: MessageEvent<Answer>) => {
      this.#waiting.get(data.id)?.(data);
      this.#waiting.delete(data.id);
    });
    // Its script could not be loaded. The next question tries again.
    worker.addEventListener('error', () => {
      worker.terminate();
      this.#worker = null;
      const url = location.host;
      const values = { reason: pageReason(new PageError('fetch-failed', offline(url), { url })) };
      for (const [id, resolve] of this.#waiting) resolve({ id, bad: 'failed', values });
      this.#waiting.clear();
    });
    return worker;
  }
}

export const createOwnPairs = () => new OwnPairs();
