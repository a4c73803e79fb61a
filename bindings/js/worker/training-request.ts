// From the options of Trainer.create and Trainer.resume to a run in the module, which decides how it begins
// (src/train/plan.h).
import type { TrainRequest } from '../shared/protocol.js';
import type { Pair } from '../shared/trainer-types.js';
import { trainTokenizer } from './conversion.js';
import type { Instance } from './module.js';
import { wellFormed, type NativeRunTexts } from './native.js';
import { Training } from './training.js';

// A build's memory ends there, and a worker with threads has half of it.
const mostBytes = (threads: number) => (threads > 1 ? 2 : 4) * 2 ** 30;

/** `model`: the bytes of the model to fine-tune or the checkpoint to resume, or none. */
export async function beginTraining(instance: Instance, request: TrainRequest, model: Uint8Array): Promise<Training> {
  const none = new Uint8Array();
  const { tokenizer } = request.settings;
  const files = tokenizer instanceof Uint8Array ? { source: tokenizer, target: none } : tokenizer;
  const { source, target } = files && 'source' in files ? files : { source: none, target: none };
  const { module, threads } = instance;
  const plan = instance.create(() =>
    module.planRun(optionsOf(request), textsOf(request), model, source, target, mostBytes(threads)),
  );
  try {
    const trained: Uint8Array[] = [];
    for (const { sentences, options } of instance.call(() => plan.untrained())) {
      trained.push(await trainTokenizer(sentences, options.type, options.vocabSize, options.normalization));
    }
    return new Training(instance, instance.create(() => plan.begin(trained)));
  } finally {
    instance.delete(plan);
  }
}

/** JSON of RunRequest in src/train/request.h. */
function optionsOf({ data: { task, validation }, settings, metadata, resume }: TrainRequest): string {
  const { preset, config, tokenizer } = settings;
  return JSON.stringify({
    preset,
    config,
    metadata,
    resume,
    task: typeof task === 'string' ? { name: task } : task,
    validation: typeof validation === 'number' ? validation : undefined,
    tokenizer: tokenizer && 'type' in tokenizer ? tokenizer : undefined,
  });
}

function textsOf({ data: { pairs = [], tsv = '', validation } }: TrainRequest): NativeRunTexts {
  const valid = typeof validation === 'object' ? validation : [];
  const side = (given: readonly Pair[], i: 0 | 1) => given.map((pair) => wellFormed(pair[i]));
  return {
    tsv: wellFormed(tsv),
    sources: side(pairs, 0),
    targets: side(pairs, 1),
    validSources: side(valid, 0),
    validTargets: side(valid, 1),
  };
}
