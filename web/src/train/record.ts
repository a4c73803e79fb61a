// Record of a run: its curves, samples and pinned sentences. Plain data, stored next to the checkpoint, and inside it
// when it leaves the browser.
import type { AnnotatedSample, TrainerInfo, TrainingEvent, Translation } from 'wasmformer';
import type { Experiment } from './experiment';
import { shortName } from './differences';
import { parse } from './fields';
import { runTask, type Scores } from './run-tasks';

export interface Point {
  step: number;
  epoch: number;
  loss: number;
  rate: number;
  norm: number;
  speed: number;
  valid?: Scores;
}

/** A validation text, with its label and the tags of its words: as they should be, and as they were found last. */
export interface Found {
  text: string;
  label?: readonly [expected: string, found: string];
  tags?: readonly (readonly [expected: string, found: string])[];
}

export interface Snapshot {
  step: number;
  text: string;
  source: string[];
  target: string[];
  /** Cross-attention in 255ths, [layers, heads, rows, columns]. */
  maps: { data: Uint8Array; layers: number; heads: number; rows: number; columns: number } | null;
}

/** Every translation of it that differed from the one before, the newest last. */
export interface SampleHistory {
  source: string;
  reference: string;
  past: { step: number; text: string }[];
}

export interface Pinned {
  text: string;
  snapshots: Snapshot[];
}

export interface RunRecord {
  id: string;
  created: number;
  /** The experiment without its pairs, which the checkpoint holds. */
  name: string;
  /** Name that the visitor gave the run, shown in place of `name`, which still says what the run learns. */
  ownName?: string;
  metric: Experiment['metric'];
  setup: string | null;
  goal: Experiment['goal'];
  /** Number of steps between reports, stored so that a run reports at the same steps however often it is stopped. */
  reportEvery: number;
  parameters: number;
  batchesPerEpoch: number;
  /** Pairs or texts that it validates with; older runs do not say. */
  validationTexts?: number;
  /** Steps that a run with a budget was expected to make. */
  expectedSteps?: number;
  /** Spent on steps, and of a budget also on what came before them. */
  seconds: number;
  points: Point[];
  samples: SampleHistory[];
  pinned: Pinned[];
  /** Results for validation texts, if the run classifies or tags. */
  found?: Found[];
  isOver: boolean;
}

const MOST_POINTS = 2000;
const MOST_SNAPSHOTS = 60;
const MOST_PAST = 24;
const FEWEST_SCORES = 3; // of a run with a budget

/** Half of the old ones go where there are too many; `keeps` says which stay in any case. */
export function thin<Item>(
  items: readonly Item[],
  most: number,
  keeps: (item: Item) => boolean = () => false,
): Item[] {
  if (items.length <= most) return items as Item[];
  return items.filter((item, i) => i % 2 === 0 || i === items.length - 1 || keeps(item));
}

type Facts = Pick<TrainerInfo, 'parameters' | 'batchesPerEpoch' | 'budget' | 'validationTexts'> & {
  training: Pick<TrainerInfo['training'], 'batch_tokens'>;
};

export function newRecord(
  experiment: Pick<Experiment, 'name' | 'metric' | 'setup' | 'goal'>,
  info: Facts,
): RunRecord {
  const { name, metric, setup, goal } = experiment;
  const { parameters, batchesPerEpoch, validationTexts, training, budget } = info;
  // About two reports a second on an ordinary machine, by the size alone: another machine shall report at the same
  // steps.
  const work = (6 * parameters * training.batch_tokens) / 20e9;
  const reportEvery = Math.max(2, Math.min(10, Math.round(0.5 / work)));
  return {
    id: crypto.randomUUID?.() ?? String(Math.random()),
    created: Date.now(),
    name,
    metric,
    setup,
    goal,
    reportEvery,
    parameters,
    batchesPerEpoch,
    validationTexts,
    expectedSteps: budget?.steps,
    seconds: goal.budget && budget ? 60 * goal.budget - budget.seconds : 0,
    points: [],
    samples: [],
    pinned: [],
    isOver: false,
  };
}

/** As every list, chart and file calls it. */
export const nameOfRun = ({ ownName, name }: Pick<RunRecord, 'ownName' | 'name'>) => ownName || name;

/** Data and score of a run: curves of other data or scores are not comparable with its own. */
function learned({ metric, setup, name }: Pick<RunRecord, 'metric' | 'setup' | 'name'>): string {
  const data = setup === null ? shortName(name) : parse(setup).data;
  return `${metric} ${data}`;
}

export const areComparable = (a: RunRecord, b: RunRecord) => learned(a) === learned(b);

/** The output that a watched sentence should get, if it validates. */
export const referenceOf = ({ samples }: RunRecord, text: string) =>
  samples.find(({ source }) => source === text)?.reference;

const roundUp = (value: number, unit: number) => Math.max(unit, Math.ceil(value / unit) * unit);

/** Minutes of the whole run, if the goal gives them. */
export const totalMinutes = ({ minutes, budget }: Experiment['goal']) => minutes ?? budget;

/** Steps of the whole run, if the goal gives them. */
export function totalSteps({ goal, batchesPerEpoch }: RunRecord): number | null {
  return goal.steps ?? (goal.epochs ? Math.ceil(goal.epochs * batchesPerEpoch) : null);
}

/**
 * Steps between validations: about a pass over the pairs. Between snapshots: more than are kept, so that the
 * first comes soon.
 */
export function intervals(record: RunRecord): { validateEvery: number; pinEvery: number } {
  const { batchesPerEpoch, reportEvery, points, expectedSteps = Infinity } = record;
  const made = points.at(-1)?.step ?? 0;
  const total = totalSteps(record) ?? Math.max(Math.min(600, expectedSteps), 2 * made);
  const often = Math.min(runTask(record).validateEvery, expectedSteps / FEWEST_SCORES);
  return {
    validateEvery: roundUp(Math.min(often, Math.max(20, batchesPerEpoch)), reportEvery),
    pinEvery: roundUp(total / (4 * MOST_SNAPSHOTS), reportEvery),
  };
}

/** The step that gives the first score and the first translation. */
export const firstScoreAt = (record: RunRecord) =>
  runTask(record).isScoredAtOnce
    ? record.reportEvery
    : Math.min(intervals(record).validateEvery, totalSteps(record) ?? Infinity);

export function snapshotOf(step: number, { text, sourceTokens, targetTokens, attention }: Translation): Snapshot {
  const pieces = (tokens: readonly { piece: string }[]) => tokens.map(({ piece }) => piece);
  const cross = attention?.cross;
  const maps = cross
    ? {
        data: Uint8Array.from(cross.data, (weight) => Math.round(255 * weight)),
        layers: cross.layers,
        heads: cross.heads,
        rows: cross.rows,
        columns: cross.columns,
      }
    : null;
  return { step, text, source: pieces(sourceTokens), target: pieces(targetTokens), maps };
}

/** A snapshot's cross-attention as the attention view takes it, of the first `most` tokens of its translation. */
export function shownOf({ source, target, maps }: Snapshot, most: number) {
  const named = (pieces: readonly string[]) => pieces.map((piece) => ({ piece }));
  const rows = Math.min(most, target.length);
  const size = rows * (maps?.columns ?? 0);
  const begin = (map: number) => map * maps!.rows * maps!.columns;
  const cross = maps && {
    ...maps,
    rows,
    data: Float32Array.from(
      { length: maps.layers * maps.heads * size },
      (_, i) => maps.data[begin(Math.floor(i / size)) + (i % size)] / 255,
    ),
  };
  return {
    sourceTokens: named(source),
    targetTokens: named(target.slice(0, rows)),
    ...(cross && { attention: { cross } }),
  };
}

/** The record with an event; `pins` are the sentences that the event's translations are of. */
export function add(
  record: RunRecord,
  event: TrainingEvent,
  secondsBefore: number,
  pins: readonly string[],
): RunRecord {
  const {
    step,
    epoch,
    loss,
    learningRate: rate,
    gradientNorm: norm,
    tokensPerSecond: speed,
    validation,
    pinned,
  } = event;
  const { isBest, samples, annotated, ...valid } = validation ?? { loss: undefined };
  const point: Point = { step, epoch, loss, rate, norm, speed, ...(validation && { valid: valid as Scores }) };
  return {
    ...record,
    seconds: secondsBefore + event.seconds,
    points: thin([...record.points, point], MOST_POINTS, ({ valid }) => !!valid),
    samples: withSamples(record.samples, step, samples ?? []),
    ...(annotated && { found: annotated.map(foundIn) }),
    pinned: record.pinned.map((pin) => {
      const translation = pinned?.[pins.indexOf(pin.text)];
      return translation
        ? { ...pin, snapshots: thin([...pin.snapshots, snapshotOf(step, translation)], MOST_SNAPSHOTS) }
        : pin;
    }),
  };
}

/** How often each name occurs. */
export function tally(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

function foundIn({ source, labels, tags, annotation }: AnnotatedSample): Found {
  const { labels: found, tokens } = annotation;
  return {
    text: source,
    ...(found && { label: [labels.join(','), found[0].label] as const }),
    ...(tokens && { tags: tags.map((tag, i) => [tag, tokens[i]?.tag ?? ''] as const) }),
  };
}

type Seen = NonNullable<TrainingEvent['validation']>['samples'];

function withSamples(samples: readonly SampleHistory[], step: number, seen: Seen): SampleHistory[] {
  const key = ({ source, reference }: { source: string; reference: string }) => `${source}\t${reference}`;
  const known = new Set(samples.map(key));
  const fresh = seen.filter((sample) => !known.has(key(sample)));
  const all = [...samples, ...fresh.map(({ source, reference }) => ({ source, reference, past: [] }))];
  return all.map((sample) => {
    const text = seen.find((other) => key(other) === key(sample))?.translation.text;
    const isSame = text === undefined || sample.past.at(-1)?.text === text;
    return isSame ? sample : { ...sample, past: thin([...sample.past, { step, text }], MOST_PAST) };
  });
}

/** A record as it was at a step; what it shares with the old one is never changed. */
export function cut(record: RunRecord, step: number): RunRecord {
  const until = <Item extends { step: number }>(items: readonly Item[]) => items.filter((item) => item.step <= step);
  return {
    ...record,
    points: until(record.points),
    samples: record.samples.map((sample) => ({ ...sample, past: until(sample.past) })),
    pinned: record.pinned.map((pin) => ({ ...pin, snapshots: until(pin.snapshots) })),
  };
}

// Only checkpoints hold metadata of this beginning; the native program carries it along.
const KEY = 'run.web';
export const WITHOUT_RECORD = { [KEY]: '' };

/** The record as metadata of the run's file. */
export function toMetadata(record: RunRecord): Record<string, string> {
  const bytes = (_: string, value: unknown) =>
    value instanceof Uint8Array
      ? { base64: btoa(Array.from(value, (byte) => String.fromCharCode(byte)).join('')) }
      : value;
  return { [KEY]: JSON.stringify(record, bytes) };
}

/** The record in a run's file; null if missing or incomplete. */
export function fromMetadata(metadata: Record<string, string>): RunRecord | null {
  const revive = (_: string, value: { base64?: unknown } | null) =>
    typeof value?.base64 === 'string' ? Uint8Array.from(atob(value.base64), (char) => char.charCodeAt(0)) : value;
  try {
    const record = JSON.parse(metadata[KEY] ?? 'null', revive) as RunRecord | null;
    return record
      && [record.points, record.samples, record.pinned].every(Array.isArray)
      && typeof record.goal === 'object'
      ? record
      : null;
  } catch {
    return null;
  }
}

/** Places of at most `most` items out of `count`, the first and the last among them, evenly spread. */
export function frames(count: number, most: number): number[] {
  if (count <= most) return Array.from({ length: count }, (_, i) => i);
  return Array.from({ length: most }, (_, i) => Math.round((i * (count - 1)) / (most - 1)));
}
