// The worker's script: answers requests; those that take steps take turns.
import { checkIntegrity, readModel, type Model } from './download.js';
import { Engine } from './engine.js';
import { FatalError } from './errors.js';
import { answer, createPause } from './port.js';
import type { Asked, LoadRequest, ModelData, Reply, Request, Result, TranslateRequest, Update } from './protocol.js';
import { buffers } from './results.js';
import { trainingFiles, trainingRequest } from './training-request.js';
import type { Training } from './training.js';
import type { TranslatorInfo } from './types.js';

/** Work that is done step by step: yields after each, now and then with news, and ends with the reply. */
type Steps = Generator<Update | undefined, Result>;

interface Call {
  id: number;
  steps: Steps;
  /** Training changes the weights that others translate with, so it goes on only when they are done. */
  waits: boolean;
  /** Events that the caller has not taken yet. */
  unseen: number;
}

// Training goes on while so many events wait to be taken.
const mostUnseen = 3;

// Calls that share the steps; more would only hold memory.
const sharing = 4;
const calls: Call[] = [];
const pause = createPause();
const post = answer<Request, Reply>(receive);
let engine: Engine;
let training: Training | undefined;
let isRunning = false;

function receive(request: Request): void {
  if (request.type === 'abort') return abort(request.id);
  if (request.type === 'seen') return seen(request.id);
  try {
    const reply = replyTo(request);
    if (reply instanceof Promise) reply.then(send, (error: unknown) => fail(request.id, error));
    else if ('next' in reply) enqueue({ id: request.id, steps: reply, waits: request.type === 'run', unseen: 0 });
    else send(reply);
  } catch (error) {
    fail(request.id, error);
  }
}

function replyTo(request: Asked): Result | Promise<Result> | Steps {
  const { id } = request;
  switch (request.type) {
    case 'load':
      return load(request).then((info) => ({ type: 'loaded', id, info }));
    case 'train':
      return train(request).then(({ info }) => ({ type: 'begun', id, info }));
    case 'translate':
      return translate(request);
    case 'run':
      return run(request);
    case 'evaluate':
      return evaluate(request);
    case 'change':
      return { type: 'changed', id, training: trained().change(request.changes) };
    case 'save':
      return save(request);
  }
}

async function start(threads: number, isLimit: boolean): Promise<void> {
  engine = await (isLimit ? Engine.createWithin(threads) : Engine.create(undefined, threads));
}

async function load({ id, model, threads, isThreadsLimit, cache, integrity }: LoadRequest): Promise<TranslatorInfo> {
  const starting = start(threads, isThreadsLimit);
  const use = async ({ name, bytes }: Model) => {
    if (integrity) await checkIntegrity(name, bytes, integrity);
    return engine.load(bytes);
  };
  return withModel(id, model, cache, starting, use);
}

async function train(request: Extract<Asked, { type: 'train' }>): Promise<Training> {
  const starting = start(request.threads, request.isThreadsLimit);
  await starting;
  const begin = async (model: Uint8Array) => {
    const native = trainingRequest(request, model, engine.threads);
    const { source, target } = await trainingFiles(request, native);
    return (training = engine.train(native, model, source, target));
  };
  if (!request.model) return begin(new Uint8Array());
  return withModel(request.id, request.model, request.cache, starting, ({ bytes }) => begin(bytes));
}

/** What `use` makes of the model's bytes, which arrive while the engine starts. */
async function withModel<T>(
  id: number,
  data: ModelData,
  cache: boolean,
  starting: Promise<void>,
  use: (file: Model) => Promise<T>,
): Promise<T> {
  const read = () => readModel(data, cache, (loaded, total) => post({ type: 'progress', id, loaded, total }));
  const attempt = async (file: Model) => {
    try {
      const result = await use(file);
      await file.keep();
      return result;
    } catch (error) {
      const isNamed = error instanceof Error && error.message.startsWith(file.name);
      if (error instanceof Error && !isNamed) error.message = `${file.name}: ${error.message}`;
      throw error;
    }
  };
  const [file] = await Promise.all([read(), starting]);
  try {
    return await attempt(file);
  } catch (error) {
    if (!file.isCached) throw error;
    // The stored copy may be damaged or old; the source decides.
    await file.forget();
    return attempt(await read());
  }
}

function trained(): Training {
  if (!training) throw new Error('[train] no run has begun');
  return training;
}

// A Blob crosses without a copy on the caller's side.
function save({ id, optimizer, data, metadata }: Extract<Asked, { type: 'save' }>): Result {
  const bytes = trained().save(optimizer, data, metadata);
  const { step } = trained().info;
  return { type: 'saved', id, file: new Blob([bytes], { type: 'application/octet-stream' }), step };
}

function* translate({ id, texts, options, partials }: TranslateRequest): Steps {
  const job = engine.start(texts, options);
  try {
    let shown = '';
    for (let goesOn = true; goesOn; ) {
      goesOn = job.step();
      const partial = partials ? job.partial() : [];
      const news = partial.join('\n') !== shown;
      shown = partial.join('\n');
      if (goesOn || news) yield news ? { type: 'partial', id, texts: partial } : undefined;
    }
    return { type: 'translated', id, translations: job.result() };
  } finally {
    job.dispose();
  }
}

function* run({ id, options }: Extract<Asked, { type: 'run' }>): Steps {
  for (const event of trained().run(options)) yield event && { type: 'event', id, event };
  return { type: 'ran', id };
}

function* evaluate({ id, pairs, options }: Extract<Asked, { type: 'evaluate' }>): Steps {
  return { type: 'evaluated', id, evaluation: yield* trained().evaluate(pairs, options) };
}

function enqueue(call: Call): void {
  calls.push(call);
  if (!isRunning) void work();
}

// The first `sharing` calls take turns: the one at the front makes a step and goes behind the others.
async function work(): Promise<void> {
  isRunning = true;
  for (let call = next(); call; call = next()) {
    calls.splice(calls.indexOf(call), 1);
    if (advance(call)) calls.splice(sharing - 1, 0, call);
    await pause();
  }
  isRunning = false;
}

function next(): Call | undefined {
  return calls.find(({ waits }) => !waits) ?? calls.find(({ unseen }) => unseen < mostUnseen);
}

function seen(id: number): void {
  const call = calls.find((other) => other.id === id);
  if (!call) return;
  call.unseen--;
  if (!isRunning) void work();
}

/** Makes one step; false when the call is over. */
function advance(call: Call): boolean {
  try {
    const { done, value } = call.steps.next();
    if (value) send(value);
    if (value?.type === 'event') call.unseen++;
    return !done;
  } catch (error) {
    fail(call.id, error);
    return false;
  }
}

function abort(id: number): void {
  const at = calls.findIndex((call) => call.id === id);
  if (at < 0) return;
  const [call] = calls.splice(at, 1) as [Call];
  // What it holds is given back; there is no reply.
  (call.steps as Generator<unknown, unknown>).return(undefined);
}

function send(reply: Update | Result): void {
  post(reply, buffers(reply));
}

function fail(id: number, thrown: unknown): void {
  const { name, message, stack } = thrown instanceof Error ? thrown : new Error(String(thrown));
  post({ type: 'failed', id, error: { name, message, stack }, isFatal: thrown instanceof FatalError });
}
