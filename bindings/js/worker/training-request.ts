// From the options of Trainer.create and Trainer.resume to what the module is asked for.
import { readHeader } from './header.js';
import type { TrainRequest } from '../shared/protocol.js';
import type { Pair, TokenizerFiles, TokenizerSettings, TrainingData } from '../shared/trainer-types.js';
import { trainTokenizer } from './conversion.js';
import { wellFormed, type NativeTrainingRequest } from './native.js';

// A build's memory ends there, and a worker with threads has half of it.
const mostBytes = (threads: number) => (threads > 1 ? 2 : 4) * 2 ** 30;
/** Those whose pieces are learnt. */
type Trained = TokenizerSettings & { type: 'bpe' | 'unigram' };

const defaultSizes = { char: 0, word: 8000, bpe: 2000, unigram: 2000 };

/** Without tokenizer files, which trainingFiles() brings. `file`: the model's bytes, or none. */
export function trainingRequest(request: TrainRequest, file: Uint8Array, threads: number): NativeTrainingRequest {
  const { data, settings, metadata, model, resume } = request;
  const { config } = settings;
  const seed = resume ? seedOf(file) : Number(config.seed ?? 1);
  const task = typeof data.task === 'string' ? { name: data.task } : data.task;
  const { train, valid } = split(data, seed);
  const tokenizer = settings.tokenizer ?? (task ? { type: 'char' } : { type: 'bpe' });
  const counted = 'type' in tokenizer && (tokenizer.type === 'char' || tokenizer.type === 'word') && !model;
  const isJoint = !('type' in tokenizer) ? !('source' in tokenizer) : (tokenizer.joint ?? true);
  const side = (pairs: readonly Pair[], i: 0 | 1) => pairs.map((pair) => wellFormed(pair[i]));
  return {
    preset: settings.preset ?? '',
    // Two vocabularies cannot share one table.
    config: JSON.stringify({ ...(!isJoint && !model && { tie_embeddings: 'target' }), ...config }),
    resume,
    task: task?.name ?? '',
    taskPairs: task?.pairs ?? 0,
    sources: side(train, 0),
    targets: side(train, 1),
    validSources: side(valid, 0),
    validTargets: side(valid, 1),
    tokenizer: counted ? tokenizer.type : '',
    vocabSize: counted ? (tokenizer.vocabSize ?? defaultSizes[tokenizer.type]) : 0,
    joint: isJoint,
    metadata: JSON.stringify(metadata),
    mostBytes: mostBytes(threads),
  };
}

/** The run's own, so that the same pairs are for validation; the module will say what is wrong with a file of none. */
function seedOf(file: Uint8Array): number {
  try {
    return Number(JSON.parse(readHeader(file).metadata.training!).seed);
  } catch {
    return 1;
  }
}

/** The tokenizers that are given, or trained on the request's texts; empty where the module makes or has them. */
export async function trainingFiles(
  { settings: { tokenizer }, model }: TrainRequest,
  { tokenizer: counted, task, sources, targets, joint }: NativeTrainingRequest,
): Promise<{ source: Uint8Array; target: Uint8Array }> {
  const none = new Uint8Array();
  if (model || counted) return { source: none, target: none };
  if (tokenizer && !('type' in tokenizer)) return files(tokenizer);
  if (task) throw new Error(`[train] tokenizer is '${tokenizer!.type}', but a task has characters or words only`);
  const { type, vocabSize = defaultSizes[type], normalization = 'nmt_nfkc' } = (tokenizer ?? { type: 'bpe' }) as Trained;
  const learnt = (texts: string[]) => trainTokenizer(texts, type, vocabSize, normalization);
  if (joint) return { source: await learnt([...sources, ...targets]), target: none };
  return { source: await learnt(sources), target: await learnt(targets) };
}

function files(tokenizer: TokenizerFiles): { source: Uint8Array; target: Uint8Array } {
  return tokenizer instanceof Uint8Array ? { source: tokenizer, target: new Uint8Array() } : tokenizer;
}

interface Parts {
  train: readonly Pair[];
  valid: readonly Pair[];
}

function split({ pairs, tsv, validation }: TrainingData, seed: number): Parts {
  const all = tsv === undefined ? pairs : fromTsv(tsv);
  if (!all) return { train: [], valid: [] };
  if (typeof validation === 'object') return { train: all, valid: validation };
  const count = validation ?? Math.min(500, Math.ceil(all.length / 20));
  if (count >= all.length) {
    throw new Error(`[train] ${count} of ${all.length} pairs are for validation; there must be some left to train on`);
  }
  const shuffled = shuffle(all, seed);
  return { train: shuffled.slice(count), valid: shuffled.slice(0, count) };
}

function fromTsv(text: string): Pair[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  return lines.flatMap((line, i) => {
    if (line === '') return [];
    const [source, target] = line.split('\t');
    if (target === undefined) throw new Error(`[train] line ${i + 1} of tsv has no tab between source and target`);
    return [[source!, target] as const];
  });
}

/** The same order for the same seed (Fisher and Yates, over the numbers of mulberry32). */
function shuffle<T>(items: readonly T[], seed: number): T[] {
  const all = [...items];
  let state = seed | 0;
  const uniform = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  for (let i = all.length - 1; i > 0; i--) {
    const j = Math.floor(uniform() * (i + 1));
    [all[i], all[j]] = [all[j]!, all[i]!];
  }
  return all;
}
