// The worker's script: answers requests; those that take steps take turns.
import { convert } from './conversion.js';
import { checkIntegrity, readModel, type ModelFile } from './download.js';
import { Engine, type SyncTranslator } from './engine.js';
import { FatalError } from './errors.js';
import { answer, createPause } from './port.js';
import type {
  Asked,
  EvaluateRequest,
  LoadRequest,
  ModelData,
  Reply,
  Request,
  Result,
  RunRequest,
  SaveRequest,
  TrainRequest,
  TranslateRequest,
  Update,
} from './protocol.js';
import { buffers } from './results.js';
import { trainingFiles, trainingRequest } from './training-request.js';
import type { Training } from './training.js';

/** Work that is done step by step: yields after each, now and then with news, and ends with the reply. */
type Steps = Generator<Update | undefined, Result>;

interface Call {
  id: number;
  key: number;
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
/** Undefined while it is loaded. */
const models = new Map<number, SyncTranslator | Training | undefined>();
let starting: Promise<Engine> | undefined;
let isRunning = false;

function receive(request: Request): void {
  if (request.type === 'abort') return abort(({ id }) => id === request.id);
  if (request.type === 'dispose') return dispose(request.key);
  if (request.type === 'seen') return seen(request.id);
  try {
    const reply = replyTo(request);
    if (reply instanceof Promise) reply.then(send, (error: unknown) => fail(request.id, error));
    else if ('next' in reply) enqueue({ id: request.id, key: request.key, steps: reply, waits: request.type === 'run', unseen: 0 });
    else send(reply);
  } catch (error) {
    fail(request.id, error);
  }
}

function replyTo(request: Asked): Result | Promise<Result> | Steps {
  const { id } = request;
  switch (request.type) {
    case 'load':
      return hold(request.key, () => load(request)).then(({ info }) => ({ type: 'loaded', id, info }));
    case 'train':
      return hold(request.key, () => train(request)).then(({ info }) => ({ type: 'begun', id, info }));
    case 'translate':
      return translate(request);
    case 'run':
      return run(request);
    case 'evaluate':
      return evaluate(request);
    case 'change':
      return { type: 'changed', id, training: runOf(request.key).change(request.changes) };
    case 'save':
      return save(request);
    case 'convert': {
      const onProgress = (loaded: number, total?: number) => post({ type: 'progress', id, loaded, total });
      return convert(request, onProgress).then((files) => ({ type: 'converted', id, files }));
    }
  }
}

/** Keeps a model when it is made, unless it has been disposed of meanwhile. */
async function hold<Held extends SyncTranslator | Training>(key: number, make: () => Promise<Held>): Promise<Held> {
  models.set(key, undefined);
  const made = await make();
  if (models.has(key)) models.set(key, made);
  else made.dispose();
  return made;
}

function start({ threads, isThreadsLimit }: LoadRequest | TrainRequest): Promise<Engine> {
  return (starting ??= isThreadsLimit ? Engine.createWithin(threads) : Engine.create({ threads }));
}

async function load(request: LoadRequest): Promise<SyncTranslator> {
  const { integrity } = request;
  return withModel(request, request.model, async (engine, { name, bytes }) => {
    if (integrity) await checkIntegrity(name, bytes, integrity);
    return engine.load(bytes);
  });
}

async function train(request: TrainRequest): Promise<Training> {
  const begin = async (engine: Engine, model: Uint8Array) => {
    const native = trainingRequest(request, model, engine.threads);
    const { source, target } = await trainingFiles(request, native);
    return engine.train(native, model, source, target);
  };
  if (!request.model) return begin(await start(request), new Uint8Array());
  return withModel(request, request.model, (engine, { bytes }) => begin(engine, bytes));
}

/** What `use` makes of the model's bytes, which arrive while the engine starts. */
async function withModel<T>(
  request: LoadRequest | TrainRequest,
  data: ModelData,
  use: (engine: Engine, file: ModelFile) => Promise<T>,
): Promise<T> {
  const { id, key, cache } = request;
  const onProgress = (loaded: number, total?: number) => {
    if (!models.has(key)) throw new Error('[load] it has been disposed of');
    post({ type: 'progress', id, loaded, total });
  };
  const read = () => readModel(data, cache, onProgress);
  const [file, engine] = await Promise.all([read(), start(request)]);
  const attempt = async (file: ModelFile) => {
    try {
      const result = await use(engine, file);
      await file.keep();
      return result;
    } catch (error) {
      const isNamed = error instanceof Error && error.message.startsWith(file.name);
      if (error instanceof Error && !isNamed) error.message = `${file.name}: ${error.message}`;
      throw error;
    }
  };
  try {
    return await attempt(file);
  } catch (error) {
    if (!file.isCached) throw error;
    // The stored copy may be damaged or old; the source decides.
    await file.forget();
    return attempt(await read());
  }
}

function held(key: number): SyncTranslator | Training {
  const model = models.get(key);
  if (!model) throw new Error('[engine] no model is loaded');
  return model;
}

const runOf = (key: number) => held(key) as Training;

// A Blob crosses without a copy on the caller's side.
function save({ id, key, optimizer, data, metadata }: SaveRequest): Result {
  const bytes = runOf(key).save(optimizer, data, metadata);
  const { step } = runOf(key).info;
  return { type: 'saved', id, file: new Blob([bytes], { type: 'application/octet-stream' }), step };
}

function* translate({ id, key, texts, options, partials }: TranslateRequest): Steps {
  const job = held(key).start(texts, options);
  try {
    for (const partial of job.steps(partials)) yield partial && { type: 'partial', id, texts: partial };
    return { type: 'translated', id, translations: job.result() };
  } finally {
    job.dispose();
  }
}

function* run({ id, key, options }: RunRequest): Steps {
  for (const event of runOf(key).run(options)) yield event && { type: 'event', id, event };
  return { type: 'ran', id };
}

function* evaluate({ id, key, pairs, options }: EvaluateRequest): Steps {
  return { type: 'evaluated', id, evaluation: yield* runOf(key).evaluate(pairs, options) };
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

// What the calls hold is given back; there is no reply.
function abort(isMeant: (call: Call) => boolean): void {
  for (const call of calls.filter(isMeant)) {
    calls.splice(calls.indexOf(call), 1);
    (call.steps as Generator<unknown, unknown>).return(undefined);
  }
}

function dispose(key: number): void {
  abort((call) => call.key === key);
  models.get(key)?.dispose();
  models.delete(key);
}

function send(reply: Update | Result): void {
  post(reply, buffers(reply));
}

function fail(id: number, thrown: unknown): void {
  const { name, message, stack } = thrown instanceof Error ? thrown : new Error(String(thrown));
  post({ type: 'failed', id, error: { name, message, stack }, isFatal: thrown instanceof FatalError });
}
