// The worker's script: answers requests, and takes calls in turn, one decoding step each.
import { checkIntegrity, readModel, type Model } from './download.js';
import { Engine, type Job } from './engine.js';
import { FatalError } from './errors.js';
import { answer, createPause } from './port.js';
import type { LoadRequest, Reply, Request, TranslateRequest } from './protocol.js';
import { buffers } from './results.js';
import type { TranslatorInfo } from './types.js';

interface Call {
  request: TranslateRequest;
  job?: Job;
  /** The texts of the last 'partial' reply. */
  shown?: string;
}

// Calls that share the steps; more would only hold memory.
const sharing = 4;
const calls: Call[] = [];
const aborted = new Set<number>();
const pause = createPause();
const post = answer<Request, Reply>(receive);
let engine: Engine;
let isRunning = false;

function receive(request: Request): void {
  switch (request.type) {
    case 'load':
      void load(request).then(
        (info) => post({ type: 'loaded', id: request.id, info }),
        (error: unknown) => fail(request.id, error),
      );
      break;
    case 'translate':
      calls.push({ request });
      if (!isRunning) void run();
      break;
    case 'abort':
      if (calls.some((call) => call.request.id === request.id)) aborted.add(request.id);
      break;
  }
}

async function load(request: LoadRequest): Promise<TranslatorInfo> {
  const { id, model, threads, isThreadsLimit, cache, integrity } = request;
  const read = () => readModel(model, cache, (loaded, total) => post({ type: 'progress', id, loaded, total }));
  const use = async (file: Model) => {
    if (integrity) await checkIntegrity(file.name, file.bytes, integrity);
    const info = parse(file);
    await file.keep();
    return info;
  };
  const start = () => (isThreadsLimit ? Engine.createWithin(threads) : Engine.create(undefined, threads));
  const [started, file] = await Promise.all([start(), read()]);
  engine = started;
  try {
    return await use(file);
  } catch (error) {
    if (!file.isCached) throw error;
    // The stored copy may be damaged or old; the source decides.
    await file.forget();
    return use(await read());
  }
}

function parse({ name, bytes }: Model): TranslatorInfo {
  try {
    return engine.load(bytes);
  } catch (error) {
    if (error instanceof Error) error.message = `${name}: ${error.message}`;
    throw error;
  }
}

// The first `sharing` calls take turns: the one at the front makes a step and goes behind the others.
async function run(): Promise<void> {
  isRunning = true;
  for (let call = calls.shift(); call; call = calls.shift()) {
    if (advance(call)) calls.splice(sharing - 1, 0, call);
    await pause();
  }
  isRunning = false;
}

/** Makes one step; false when the call is over. */
function advance(call: Call): boolean {
  const { id, texts, options, partials } = call.request;
  let goesOn = false;
  try {
    if (aborted.delete(id)) return false;
    call.job ??= engine.start(texts, options);
    goesOn = call.job.step();
    if (partials) showPartial(call, call.job);
    if (!goesOn) {
      const translations = call.job.result();
      post({ type: 'translated', id, translations }, buffers(translations));
    }
  } catch (error) {
    goesOn = false;
    fail(id, error);
  } finally {
    if (!goesOn) call.job?.dispose();
  }
  return goesOn;
}

function showPartial(call: Call, job: Job): void {
  const texts = job.partial();
  const shown = texts.join('\n');
  if (shown === (call.shown ?? '')) return;
  call.shown = shown;
  post({ type: 'partial', id: call.request.id, texts });
}

function fail(id: number, thrown: unknown): void {
  const { name, message, stack } = thrown instanceof Error ? thrown : new Error(String(thrown));
  post({ type: 'failed', id, error: { name, message, stack }, isFatal: thrown instanceof FatalError });
}
