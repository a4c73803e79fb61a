// Answers the page's calls with the models of this worker.
import { ofFile, WasmformerError } from '../shared/errors.js';
import {
  version, type Call, type Method, type ModelData, type Reply, type Request, type Result, type Start, type Wanted,
} from '../shared/protocol.js';
import { convert } from './conversion.js';
import type { ModelFile } from './download.js';
import { WorkerEngine } from './worker-engine.js';
import { WorkerTranslator } from './worker-translator.js';
import { TranslateWork } from './gathering.js';
import { setFiles } from './module-urls.js';
import { estimate, readAny } from './hugging-face.js';
import { readList } from './mozilla-models.js';
import { Learning } from './learning.js';
import { beginTraining, Training } from './training.js';
import { answersOf, failed, Turns, type Steps } from './scheduler.js';

type Answer<T> = T | Promise<T> | Steps<T> | TranslateWork;
type AnyModel = WorkerTranslator | Training | Learning;
type Methods = { [M in Method]: (wanted: Wanted<M>, call: Call) => Answer<Result<M>> };

export class Requests {
  #post: (reply: Reply) => void;
  #turns: Turns;
  /** Undefined while the model is loaded. */
  #models = new Map<number, AnyModel | undefined>();
  #engine: Promise<WorkerEngine> | undefined;

  #methods: Methods = {
    load: async (wanted, call) => (await this.#open(call, () => this.#load(wanted, call))).info,
    train: async (wanted, call) => (await this.#open(call, () => this.#train(wanted, call))).info,
    translate: (_, call) => new TranslateWork(call as Call<'translate'>, this.#model(call.key)),
    tokenize: ({ texts, options }, { key }) => this.#translator(key).tokensOf(texts, options),
    countTokens: ({ texts, options }, { key }) =>
      this.#translator(key).tokensOf(texts, options).map(({ length }) => length),
    annotate: ({ texts, options, use }, { key }) => this.#model(key).annotate(texts, options, use),
    run: ({ options }, { key }) => run(options, this.#training(key)),
    evaluate: ({ pairs, options }, { key }) => this.#training(key).evaluate(pairs, options),
    change: ({ options }, { key }) => this.#training(key).change(options),
    save: (wanted, { key }) => save(wanted, this.#training(key)),
    learn: async ({ translator }, call) =>
      void (await this.#open(call, async () => this.#translator(translator).learning())),
    backward: ({ source, target }, { key }) => this.#learning(key).backward(source, target),
    step: ({ source, target, rate }, { key }) => this.#learning(key).step(source, target, rate),
    undo: (_, { key }) => this.#learning(key).undo(),
    convert: (wanted, { id }) => convert(wanted, this.#onProgress(id)),
    estimate: (wanted) => estimate(wanted),
    list: (wanted) => readList(wanted),
  };

  constructor(post: (reply: Reply) => void) {
    this.#post = post;
    this.#turns = new Turns(post);
  }

  receive(request: Request): void {
    if (request.type === 'files') {
      this.#post({ type: 'ready', version });
      return setFiles(request.wasm, request.compiled, (url, module) => this.#post({ type: 'compiled', url, module }));
    }
    if (request.type === 'abort') return this.#turns.abort((id) => id === request.id);
    if (request.type === 'dispose') return this.#dispose(request.key);
    if (request.type === 'acknowledge') return this.#turns.acknowledge(request.id);
    const { id, key, method, wanted } = request;
    const done = (result: unknown) => this.#post({ type: 'done', id, result });
    try {
      const answer = (this.#methods[method] as (wanted: unknown, call: Call) => Answer<unknown>)(wanted, request);
      if (answer instanceof Promise) answer.then(done, (error: unknown) => this.#fail(id, error));
      else if (answer instanceof TranslateWork) this.#turns.add(answer);
      else if (isSteps(answer)) this.#turns.add({ key, ids: new Set([id]), answers: answersOf(id, answer), isTraining: method === 'run' });
      else done(answer);
    } catch (error) {
      this.#fail(id, error);
    }
  }

  /** Registers the model when it is made, unless it has been disposed of meanwhile. */
  async #open<Model extends AnyModel>({ key }: Call, make: () => Promise<Model>): Promise<Model> {
    this.#models.set(key, undefined);
    const model = await make();
    if (this.#models.has(key)) this.#models.set(key, model);
    else model.dispose();
    return model;
  }

  #model(key: number): AnyModel {
    const model = this.#models.get(key);
    if (!model) throw new WasmformerError('engine', 'no model is loaded');
    return model;
  }

  #translator(key: number): WorkerTranslator {
    const model = this.#model(key);
    if (!(model instanceof WorkerTranslator)) throw new WasmformerError('engine', 'the model is not a translator');
    return model;
  }

  #training(key: number): Training {
    const model = this.#model(key);
    if (!(model instanceof Training)) throw new WasmformerError('engine', 'the model is not a training run');
    return model;
  }

  #learning(key: number): Learning {
    const model = this.#model(key);
    if (!(model instanceof Learning)) throw new WasmformerError('engine', 'the model is not a learner');
    return model;
  }

  #dispose(key: number): void {
    this.#turns.abort((_, other) => other === key);
    this.#models.get(key)?.dispose();
    this.#models.delete(key);
  }

  #start({ threads, isThreadsLimit, maximumMemory }: Start): Promise<WorkerEngine> {
    const create = () =>
      (isThreadsLimit
        ? WorkerEngine.createWithin(threads, maximumMemory)
        : WorkerEngine.create({ threads, maximumMemory }));
    return (this.#engine ??= create());
  }

  #load(wanted: Wanted<'load'>, call: Call): Promise<WorkerTranslator> {
    const { model, integrity, use } = wanted;
    return this.#withModel(wanted, model, call, async (engine, { bytes }) => engine.loadFor(use, bytes), integrity);
  }

  async #train(wanted: Wanted<'train'>, call: Call): Promise<Training> {
    const translator = wanted.teacher && await this.#load({ ...wanted, ...wanted.teacher, use: 'translate' }, call);
    const teacher = translator && { translator, checkWanted: () => this.#checkWanted(call.key) };
    const begin = ({ instance }: WorkerEngine, model: Uint8Array) => beginTraining(instance, wanted, model, teacher);
    try {
      if (!wanted.model) return await begin(await this.#start(wanted), new Uint8Array());
      return await this.#withModel(wanted, wanted.model, call, (engine, { bytes }) => begin(engine, bytes));
    } finally {
      translator?.dispose();
    }
  }

  /** Throws if a model that is being opened has been disposed of. */
  #checkWanted(key: number): void {
    if (!this.#models.has(key)) throw new WasmformerError('disposed', 'it has been disposed of', { room: 'load' });
  }

  /**
   * The result of `use` with the model's bytes, which arrive while the engine starts. If a stored copy fails, which may be
   * damaged or old, the source decides.
   */
  async #withModel<T>(
    start: Start, data: ModelData, { id, key }: Call, use: (engine: WorkerEngine, file: ModelFile) => Promise<T>,
    integrity?: string,
  ): Promise<T> {
    const report = this.#onProgress(id);
    const onProgress = (loaded: number, total?: number) => {
      this.#checkWanted(key);
      report(loaded, total);
    };
    const read = () => readAny(data, start.cache, integrity, onProgress);
    const [file, engine] = await bothOf(read(), this.#start(start));
    const attempt = (file: ModelFile) => useAndKeep(file, async () => {
      await file.check?.();
      return use(engine, file);
    });
    if (!this.#models.has(key)) file.release?.();
    this.#checkWanted(key);
    try {
      return await attempt(file);
    } catch (error) {
      if (!file.isCached || isOfOtherUse(error) || !this.#models.has(key)) throw error;
      await file.forget();
      return attempt(await read());
    }
  }

  #onProgress(id: number) {
    return (loaded: number, total?: number) =>
      this.#post({ type: 'update', id, update: { type: 'progress', loaded, total } });
  }

  #fail(id: number, thrown: unknown): void {
    this.#post(failed(id, thrown));
  }
}

/** A file and the engine; if that does not start, the file is released when it comes. */
async function bothOf(
  reading: Promise<ModelFile>, starting: Promise<WorkerEngine>,
): Promise<[ModelFile, WorkerEngine]> {
  try {
    return await Promise.all([reading, starting]);
  } catch (error) {
    void reading.then(({ release }) => release?.(), () => {});
    throw error;
  }
}

/** The result of `use`, whose errors name the file; a good file is kept in the cache. */
async function useAndKeep<T>(file: ModelFile, use: () => Promise<T>): Promise<T> {
  try {
    const result = await use();
    await file.keep();
    return result;
  } catch (error) {
    if (isOfOtherUse(error)) await file.keep(); // a good file all the same
    throw error instanceof WasmformerError ? ofFile(error, file.name) : error;
  } finally {
    file.release?.();
  }
}

const isOfOtherUse = (error: unknown) => error instanceof WasmformerError && error.code === 'wrong-task';
const isSteps = (answer: unknown): answer is Steps => typeof answer === 'object' && answer !== null && 'next' in answer;

function *run(options: string, training: Training): Steps<void> {
  for (const event of training.run(options)) yield event && { type: 'event', event };
}

// A Blob is posted without a copy on the page's side.
function save({ optimizer, data, metadata }: Wanted<'save'>, training: Training): Result<'save'> {
  const bytes = training.save(optimizer, data, metadata);
  return { file: new Blob([bytes], { type: 'application/octet-stream' }), step: training.info.step };
}
