// Calls that work step by step take turns.
import { toPlainError } from '../shared/errors.js';
import type { Answer, Reply, Update } from '../shared/protocol.js';
import { FatalError } from './instance.js';

/** Work that yields after each step, sometimes with an update, and ends with its result. */
export type Steps<Result = unknown> = Generator<Update | undefined, Result>;

/** Work that yields after each step, with the answers that there are then, and ends with the last ones. */
export type Answers = Generator<readonly Answer[], readonly Answer[]>;

export interface Work {
  key: number;
  /** The calls that it answers; those that are aborted are taken out. */
  ids: Set<number>;
  /** Begins with its first step. */
  answers: Answers;
  /** Runs only while no other call has work: training changes the weights that others translate with. */
  isTraining: boolean;
  /** Takes over the calls of other work, if both can be computed together and neither has begun. */
  join?(other: Work): boolean;
}

export const failed = (id: number, thrown: unknown): Answer =>
  ({ type: 'failed', id, error: toPlainError(thrown), isFatal: thrown instanceof FatalError });

/** The answers to one call. */
export function *answersOf(id: number, steps: Steps): Answers {
  try {
    let step = steps.next();
    for (; !step.done; step = steps.next()) yield step.value ? [{ type: 'update', id, update: step.value }] : [];
    return [{ type: 'done', id, result: step.value }];
  } finally {
    steps.return(undefined);
  }
}

// Training waits while this many events have not been acknowledged.
const mostUnacknowledged = 3;

// Calls that share the steps; more would only hold memory.
const mostSharing = 4;

// Node, Bun and Deno check for messages fast, and Deno needs several checks until one is delivered.
const hasImmediates = typeof setImmediate === 'function';
// Milliseconds of work between checks; in WebKit one check takes half of one, as long as a short step.
const longestTurn = hasImmediates ? 0 : 4;
const checksPerMillisecond = hasImmediates ? 1 : 0; // of work, after the first check

const callsOf = (works: readonly Work[]) => works.reduce((sum, { ids }) => sum + ids.size, 0);

export class Turns {
  /** Work that has begun, in the order of its turns. */
  #sharing: Work[] = [];
  /** Work that has not begun, first come first. */
  #waiting: Work[] = [];
  #training: (Work & { unacknowledged: number })[] = [];
  #isRunning = false;
  #pause = createPause();
  #send: (reply: Reply) => void;

  constructor(send: (reply: Reply) => void) {
    this.#send = send;
  }

  add(work: Work): void {
    if (work.isTraining) this.#training.push({ ...work, unacknowledged: 0 });
    else this.#waiting.push(work);
    void this.#run();
  }

  /** The page has processed an event of this call. */
  acknowledge(id: number): void {
    const work = this.#training.find(({ ids }) => ids.has(id));
    if (work) work.unacknowledged--;
    void this.#run();
  }

  /** Ends calls without a reply, and frees what nobody waits for. */
  abort(matches: (id: number, key: number) => boolean): void {
    for (const works of [this.#sharing, this.#waiting, this.#training]) {
      for (const work of [...works]) {
        const ended = [...work.ids].filter((id) => matches(id, work.key));
        ended.forEach((id) => work.ids.delete(id));
        if (work.ids.size > 0) continue;
        works.splice(works.indexOf(work), 1);
        (work.answers as Generator<unknown, unknown>).return(undefined);
      }
    }
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    let begin = performance.now();
    while (this.#turn()) {
      const time = performance.now() - begin;
      if (time < longestTurn) continue;
      for (let checks = 0; checks <= checksPerMillisecond * time; checks++) await this.#pause();
      begin = performance.now();
    }
    this.#isRunning = false;
  }

  /** Lets the work at the front make a step, and go behind the others; returns false if no work is left. */
  #turn(): boolean {
    this.#beginWaiting();
    const works = this.#sharing.length > 0 ? this.#sharing : this.#training;
    const isFree = (work: { unacknowledged: number }) => work.unacknowledged < mostUnacknowledged;
    const at = works === this.#sharing ? 0 : this.#training.findIndex(isFree);
    const [work] = at < 0 ? [] : works.splice(at, 1);
    if (!work) return false;
    if (this.#step(work)) works.push(work as Work & { unacknowledged: number });
    return true;
  }

  /** Begins waiting work when few calls share the steps, and takes with it all that can be computed together. */
  #beginWaiting(): void {
    while (this.#waiting.length > 0 && callsOf(this.#sharing) < mostSharing) {
      const work = this.#waiting.shift()!;
      this.#waiting = this.#waiting.filter((other) => !work.join?.(other));
      this.#sharing.push(work);
    }
  }

  /** False when the work is over. */
  #step(work: Work & { unacknowledged?: number }): boolean {
    try {
      const { done, value } = work.answers.next();
      for (const answer of value) this.#answer(work, answer);
      return !done;
    } catch (error) {
      for (const id of work.ids) this.#send(failed(id, error));
      return false;
    }
  }

  #answer(work: Work & { unacknowledged?: number }, answer: Answer): void {
    if (!work.ids.has(answer.id)) return;
    this.#send(answer);
    if (answer.type !== 'update') work.ids.delete(answer.id);
    else if (answer.update.type === 'event') work.unacknowledged! += 1;
  }
}

/** Returns a function that lets the messages that have arrived be delivered; a timer would wait for milliseconds. */
export function createPause(): () => Promise<void> {
  // Node, Bun and Deno deliver up to a thousand messages of one MessagePort before they look at another port.
  if (hasImmediates) return () => new Promise((resolve) => void setImmediate(resolve));
  const { port1, port2 } = new MessageChannel();
  let proceed: () => void;
  port1.onmessage = () => proceed();
  return () =>
    new Promise((resolve) => {
      proceed = resolve;
      port2.postMessage(undefined);
    });
}
