// Answers the page's requests with the models of this worker.
import type {
  EvaluateRequest, LoadRequest, ModelData, ModelRequest, Reply, Request, Result, RunRequest, SaveRequest, TrainRequest,
  TranslateRequest,
} from '../shared/protocol.js';
import { convert } from './conversion.js';
import { checkIntegrity, readModel, type ModelFile } from './download.js';
import { Engine, type SyncTranslator } from './engine.js';
import { FatalError } from './module.js';
import { beginTraining, Training } from './training.js';
import { Turns, type Steps } from './turns.js';

export class Requests {
  #post: (reply: Reply) => void;
  #turns: Turns;
  /** Undefined while the model is loaded. */
  #models = new Map<number, SyncTranslator | Training | undefined>();
  #engine: Promise<Engine> | undefined;

  constructor(post: (reply: Reply) => void) {
    this.#post = post;
    this.#turns = new Turns(post, (id, thrown) => this.#fail(id, thrown));
  }

  receive(request: Request): void {
    if (request.type === 'abort') return this.#turns.abort(({ id }) => id === request.id);
    if (request.type === 'dispose') return this.#dispose(request.key);
    if (request.type === 'acknowledge') return this.#turns.acknowledge(request.id);
    const { id, key } = request;
    try {
      const answer = this.#answer(request);
      if (answer instanceof Promise) answer.then(this.#post, (error: unknown) => this.#fail(id, error));
      else if ('next' in answer) this.#turns.add({ id, key, steps: answer, isTraining: request.type === 'run' });
      else this.#post(answer);
    } catch (error) {
      this.#fail(id, error);
    }
  }

  #answer(request: ModelRequest): Result | Promise<Result> | Steps {
    const { id, key } = request;
    switch (request.type) {
      case 'load':
        return this.#open(key, () => this.#load(request)).then(({ info }) => ({ type: 'loaded', id, info }));
      case 'train':
        return this.#open(key, () => this.#train(request)).then(({ info }) => ({ type: 'begun', id, info }));
      case 'translate':
        return translate(request, this.#model(key));
      case 'run':
        return run(request, this.#training(key));
      case 'evaluate':
        return evaluate(request, this.#training(key));
      case 'change':
        return { type: 'changed', id, training: this.#training(key).change(request.changes) };
      case 'save':
        return save(request, this.#training(key));
      case 'convert':
        return convert(request, this.#onProgress(id)).then((files) => ({ type: 'converted', id, files }));
    }
  }

  /** Registers the model when it is made, unless it has been disposed of meanwhile. */
  async #open<Model extends SyncTranslator | Training>(key: number, make: () => Promise<Model>): Promise<Model> {
    this.#models.set(key, undefined);
    const model = await make();
    if (this.#models.has(key)) this.#models.set(key, model);
    else model.dispose();
    return model;
  }

  #model(key: number): SyncTranslator | Training {
    const model = this.#models.get(key);
    if (!model) throw new Error('[engine] no model is loaded');
    return model;
  }

  #training(key: number): Training {
    const model = this.#model(key);
    if (!(model instanceof Training)) throw new Error('[engine] the model is not a training run');
    return model;
  }

  #dispose(key: number): void {
    this.#turns.abort((call) => call.key === key);
    this.#models.get(key)?.dispose();
    this.#models.delete(key);
  }

  #start({ threads, isThreadsLimit }: LoadRequest | TrainRequest): Promise<Engine> {
    return (this.#engine ??= isThreadsLimit ? Engine.createWithin(threads) : Engine.create({ threads }));
  }

  async #load(request: LoadRequest): Promise<SyncTranslator> {
    const { integrity } = request;
    return this.#withModel(request, request.model, async (engine, { name, bytes }) => {
      if (integrity) await checkIntegrity(name, bytes, integrity);
      return engine.load(bytes);
    });
  }

  async #train(request: TrainRequest): Promise<Training> {
    const begin = ({ instance }: Engine, model: Uint8Array) => beginTraining(instance, request, model);
    if (!request.model) return begin(await this.#start(request), new Uint8Array());
    return this.#withModel(request, request.model, (engine, { bytes }) => begin(engine, bytes));
  }

  /** The result of `use` with the model's bytes, which arrive while the engine starts. */
  async #withModel<T>(
    request: LoadRequest | TrainRequest,
    data: ModelData,
    use: (engine: Engine, file: ModelFile) => Promise<T>,
  ): Promise<T> {
    const { id, key, cache } = request;
    const report = this.#onProgress(id);
    const onProgress = (loaded: number, total?: number) => {
      if (!this.#models.has(key)) throw new Error('[load] it has been disposed of');
      report(loaded, total);
    };
    const read = () => readModel(data, cache, onProgress);
    const [file, engine] = await Promise.all([read(), this.#start(request)]);
    const attempt = async (file: ModelFile) => {
      try {
        const result = await use(engine, file);
        await file.keep();
        return result;
      } catch (error) {
        const isNamed = error instanceof Error && error.message.includes(file.name);
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

  #onProgress(id: number) {
    return (loaded: number, total?: number) => this.#post({ type: 'progress', id, loaded, total });
  }

  #fail(id: number, thrown: unknown): void {
    const { name, message, stack } = thrown instanceof Error ? thrown : new Error(String(thrown));
    this.#post({ type: 'failed', id, error: { name, message, stack }, isFatal: thrown instanceof FatalError });
  }
}

function *translate({ id, texts, options, partials }: TranslateRequest, model: SyncTranslator | Training): Steps {
  const job = model.start(texts, options);
  try {
    const steps = job.steps(partials);
    let step = steps.next();
    for (; !step.done; step = steps.next()) yield step.value && { type: 'partial', id, texts: step.value };
    return { type: 'translated', id, translations: step.value };
  } finally {
    job.dispose();
  }
}

function *run({ id, options }: RunRequest, training: Training): Steps {
  for (const event of training.run(options)) yield event && { type: 'event', id, event };
  return { type: 'ran', id };
}

function *evaluate({ id, pairs, options }: EvaluateRequest, training: Training): Steps {
  return { type: 'evaluated', id, evaluation: yield* training.evaluate(pairs, options) };
}

// A Blob is posted without a copy on the page's side.
function save({ id, optimizer, data, metadata }: SaveRequest, training: Training): Result {
  const bytes = training.save(optimizer, data, metadata);
  return { type: 'saved', id, file: new Blob([bytes], { type: 'application/octet-stream' }), step: training.info.step };
}
