// Calls to translate that wait at the same time and have the same options are computed together, as one batch: that takes
// less time than one after the other, and each gets what it would get alone.
import type { Answer, Call, Plain } from '../shared/protocol.js';
import type { Translation } from '../shared/types.js';
import { FatalError } from './instance.js';
import { answersOf, failed, type Answers, type Steps, type Work } from './scheduler.js';
import type { WorkerTranslator } from './worker-translator.js';
import type { Learning } from './learning.js';
import type { Training } from './training.js';

type TranslateCall = Call<'translate'>;
type Translating = WorkerTranslator | Training | Learning;

// As many texts as translateAll() takes at a time: more would make the first call wait longer, and gain little.
const mostTogether = 32;

// Their results depend on the place of a text among the others, or take much memory for each text.
const ofOneCall = ['sampling', 'keptRanges', 'internals'];

function canJoin(options: string): boolean {
  const given = JSON.parse(options) as object;
  return !ofOneCall.some((name) => name in given);
}

/** The work of a call alone. */
function *alone({ wanted }: TranslateCall, model: Translating): Steps<Plain<Translation[]>> {
  const { texts, options, partials, first } = wanted;
  const steps = model.steps(texts, options, partials, first);
  try {
    let step = steps.next();
    for (; !step.done; step = steps.next()) yield step.value && { type: 'partial', texts: step.value };
    return step.value;
  } finally {
    steps.return([]);
  }
}

/** The items of each call, of the items of all of them. */
function shares<Item>(calls: readonly TranslateCall[], items: readonly Item[]): Item[][] {
  let end = 0;
  return calls.map(({ wanted }) => items.slice(end, end += wanted.texts.length));
}

/** The work of several calls as one batch. */
function *asBatch(calls: readonly TranslateCall[], model: Translating): Answers {
  const { options, partials } = calls[0]!.wanted;
  const steps = model.steps(calls.flatMap(({ wanted }) => wanted.texts), options, partials);
  try {
    const last = calls.map(() => '');
    let step = steps.next();
    for (; !step.done; step = steps.next()) yield step.value ? partialsOf(calls, step.value, last) : [];
    const results = shares(calls, step.value);
    return calls.map(({ id }, i) => ({ type: 'done', id, result: results[i] }));
  } finally {
    steps.return([]);
  }
}

/** An update for each call whose texts differ from its `last` ones, which it renews. */
function partialsOf(calls: readonly TranslateCall[], all: readonly string[], last: string[]): Answer[] {
  const answers: Answer[] = [];
  shares(calls, all).forEach((texts, i) => {
    const text = texts.join('\n');
    if (text === last[i]) return;
    last[i] = text;
    answers.push({ type: 'update', id: calls[i]!.id, update: { type: 'partial', texts } });
  });
  return answers;
}

/** The answers to those calls that are still `awaited`. If a batch fails, its halves are tried, so that only the call fails that must. */
function *answersTo(calls: readonly TranslateCall[], awaited: ReadonlySet<number>, model: Translating): Answers {
  const here = calls.filter(({ id }) => awaited.has(id));
  const [first] = here;
  if (!first) return [];
  try {
    return yield* here.length > 1 ? asBatch(here, model) : answersOf(first.id, alone(first, model));
  } catch (error) {
    if (error instanceof FatalError) throw error;
    if (here.length === 1) return [failed(first.id, error)];
  }
  const half = here.length >> 1;
  yield yield* answersTo(here.slice(0, half), awaited, model);
  return yield* answersTo(here.slice(half), awaited, model);
}

/** The work of a call to translate, which others may join. */
export class TranslateWork implements Work {
  readonly key: number;
  readonly ids: Set<number>;
  readonly answers: Answers;
  readonly isTraining = false;
  #calls: TranslateCall[];
  #model: Translating;

  constructor(call: TranslateCall, model: Translating) {
    this.key = call.key;
    this.ids = new Set([call.id]);
    this.#calls = [call];
    this.#model = model;
    this.answers = this.#answer();
  }

  join(other: Work): boolean {
    if (!(other instanceof TranslateWork) || other.key !== this.key || !this.#model.isBatchInvariant) return false;
    const { options, partials } = this.#calls[0]!.wanted;
    const { wanted } = other.#calls[0]!;
    if (wanted.options !== options || wanted.partials !== partials) return false;
    if (this.#size + other.#size > mostTogether || !canJoin(options)) return false;
    this.#calls.push(...other.#calls);
    for (const id of other.ids) this.ids.add(id);
    return true;
  }

  get #size(): number {
    return this.#calls.reduce((sum, { wanted }) => sum + wanted.texts.length, 0);
  }

  // A generator's body, and with it the look at the calls, begins with the first step.
  *#answer(): Answers {
    return yield* answersTo(this.#calls, this.ids, this.#model);
  }
}
