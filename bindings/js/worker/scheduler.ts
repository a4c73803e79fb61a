// Calls that work step by step take turns.
import type { Reply, Update } from '../shared/protocol.js';

/** Work that yields after each step, sometimes with an update, and ends with its result. */
export type Steps<Result = unknown> = Generator<Update | undefined, Result>;

export interface Work {
  id: number;
  key: number;
  steps: Steps;
  /** Runs only while no other call has work: training changes the weights that others translate with. */
  isTraining: boolean;
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

export class Turns {
  #calls: (Work & { unacknowledged: number })[] = [];
  #isRunning = false;
  #pause = createPause();
  #send: (reply: Reply) => void;
  #fail: (id: number, thrown: unknown) => void;

  constructor(send: (reply: Reply) => void, fail: (id: number, thrown: unknown) => void) {
    this.#send = send;
    this.#fail = fail;
  }

  add(call: Work): void {
    this.#calls.push({ ...call, unacknowledged: 0 });
    void this.#run();
  }

  /** The page has processed an event of this call. */
  acknowledge(id: number): void {
    const call = this.#calls.find((other) => other.id === id);
    if (call) call.unacknowledged--;
    void this.#run();
  }

  /** Ends calls without a reply, and frees what they hold. */
  abort(matches: (call: Work) => boolean): void {
    for (const call of this.#calls.filter(matches)) {
      this.#calls.splice(this.#calls.indexOf(call), 1);
      (call.steps as Generator<unknown, unknown>).return(undefined);
    }
  }

  // The first calls take turns: the one at the front makes a step and goes behind the others.
  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    let begin = performance.now();
    for (let call = this.#next(); call; call = this.#next()) {
      this.#calls.splice(this.#calls.indexOf(call), 1);
      if (this.#step(call)) this.#calls.splice(mostSharing - 1, 0, call);
      const time = performance.now() - begin;
      if (time < longestTurn) continue;
      for (let checks = 0; checks <= checksPerMillisecond * time; checks++) await this.#pause();
      begin = performance.now();
    }
    this.#isRunning = false;
  }

  #next() {
    return this.#calls.find(({ isTraining }) => !isTraining)
      ?? this.#calls.find(({ unacknowledged }) => unacknowledged < mostUnacknowledged);
  }

  /** False when the call is over. */
  #step(call: Work & { unacknowledged: number }): boolean {
    try {
      const { done, value } = call.steps.next();
      if (done) this.#send({ type: 'done', id: call.id, result: value });
      else if (value) this.#send({ type: 'update', id: call.id, update: value });
      if (!done && value?.type === 'event') call.unacknowledged++;
      return !done;
    } catch (error) {
      this.#fail(call.id, error);
      return false;
    }
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
