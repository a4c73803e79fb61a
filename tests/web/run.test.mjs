// A training run as a reducer: what each event makes of it, and what is to be done.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { load } from './load.mjs';

let run, record;
before(async () => {
  run = await load('train/run-reducer.ts');
  record = await load('train/record.ts');
});

const experiment = (more = {}) => ({ name: 'Reverse', options: {}, goal: { steps: 100 }, metric: 'bleu', setup: null, ...more });
const info = { step: 0, training: { schedule: 'cosine', decay_steps: 100, learning_rate: 1, batch_tokens: 100 }, parameters: 1000, batchesPerEpoch: 10 };
const report = (step, more = {}) => ({
  type: 'reported', now: 1000 * step, event: { step, epoch: step / 10, loss: 2, learningRate: 1, gradientNorm: 1, tokensPerSecond: 1, seconds: step, ...more },
});
const validation = { loss: 1, bleu: 10, chrf: 20, exactMatch: 0, isBest: true, samples: [{ source: 'ab', reference: 'ba', translation: { text: 'bb', sourceTokens: [], targetTokens: [] } }] };

/** The state after some events, and the effects of the last one by name. */
function after(state, ...events) {
  let effects = [];
  for (const event of events) ({ state, effects } = run.reduce(state, event));
  return [state, effects.map(({ type }) => type)];
}

function begun(more) {
  const state = run.preparedFor(experiment(more));
  const own = { ...record.newRecord(experiment(more), info), pinned: more?.pinned ?? [{ text: 'x', snapshots: [] }] };
  return after(state, { type: 'begin', experiment: experiment(more) }, { type: 'opened', info, record: own }, { type: 'start' })[0];
}
const saved = (step, now = 0) => ({ type: 'saved', step, now, took: 10 });

test('a run starts with a checkpoint, trains to its goal, saves and ends', () => {
  let [state, effects] = after(run.preparedFor(experiment()), { type: 'begin', experiment: experiment() });
  assert.deepEqual([state.status, effects], ['preparing', ['create']]);
  state = begun();
  assert.equal(state.status, 'running');
  [state, effects] = after(state, saved(0), report(25));
  assert.deepEqual([run.share(state), effects], [0.25, []]);
  [state, effects] = after(state, report(100), { type: 'stretched', isAborted: false });
  assert.deepEqual([state.record.isOver, effects], [true, ['save', 'settle']]);
  [state, effects] = after(state, { type: 'settled' });
  assert.deepEqual([state.status, state.training, effects], ['over', null, ['free']]);
});

test('pausing takes effect at the next report, saves, and keeps the trainer; stopping frees it', () => {
  for (const [wish, status, last] of [['pause', 'paused', []], ['stop', 'stored', ['free']]]) {
    let [state, effects] = after(begun(), { type: wish });
    assert.deepEqual([state.status, effects], ['pausing', []]);
    [state, effects] = after(state, report(10));
    assert.deepEqual(effects, ['interrupt']);
    [state, effects] = after(state, { type: 'stretched', isAborted: true }, { type: 'settled' });
    assert.deepEqual([state.status, state.record.isOver, effects], [status, false, last]);
    [state, effects] = after(state, { type: 'goOn', slower: 1 });
    assert.deepEqual([state.status, effects], ['preparing', ['open']]);
  }
});

test('adding a sentence to watch ends the stretch, and the next stretch watches it', () => {
  let [state, effects] = after(begun(), saved(0), { type: 'pin', text: 'y' });
  assert.deepEqual(effects, []);
  [state, effects] = after(state, report(10));
  assert.deepEqual(effects, ['interrupt']);
  [state, effects] = after(state, { type: 'stretched', isAborted: true }, { type: 'settled' });
  assert.deepEqual([effects, state.stretch.pins], [['train'], ['x', 'y']]);
  assert.deepEqual(state.stretch.goal, { steps: 90 });
  assert.equal(after(state, { type: 'pin', text: 'y' })[0].record.pinned.length, 2, 'once is enough');
});

test('a task watches its first validation pair at once', () => {
  const state = begun({ metric: 'exactMatch', pinned: [] });
  assert.equal(state.stretch.isFirst, true);
  let [next, effects] = after(state, saved(0), report(state.record.reportEvery, { validation }));
  assert.deepEqual([next.record.pinned[0].text, effects], ['ab', ['interrupt']]);
  [next, effects] = after(next, { type: 'stretched', isAborted: false }, { type: 'settled' });
  assert.deepEqual([next.record.isOver, effects, next.stretch.pins], [false, ['train'], ['ab']]);
  const opened = { type: 'opened', info: { ...info, step: 3 }, record: state.record, isSaved: true };
  [next] = after(state, { type: 'goOn', slower: 1 }, opened, { type: 'start' });
  assert.deepEqual(next.stretch.goal, { steps: state.record.reportEvery - 3 }, 'a run saved before its first report next stops at it');
});

test('a run saves every half minute, sooner after a better validation, later after a jump in the loss', () => {
  const [state] = after(begun(), saved(0, 0), report(1));
  assert.deepEqual(after(state, report(29))[1], []);
  assert.deepEqual(after(state, report(31))[1], ['save']);
  assert.deepEqual(after(state, report(6, { validation }))[1], ['save']);
  assert.deepEqual(after(state, report(4, { validation }))[1], []);
  assert.deepEqual(after(state, report(40, { loss: 9 }))[1], []);
  assert.deepEqual(after(state, report(130, { loss: 9 }))[1], ['save']);
  assert.deepEqual(after(state, report(31), report(32))[1], [], 'not twice at a time');
});

test('the time left is estimated from this stretch alone, not from a pause or another computer', () => {
  let [state] = after(begun(), saved(0), report(10), report(20));
  assert.equal(state.left, 80, 'a step takes a second');
  [state] = after(state, { type: 'pause' }, report(21), { type: 'stretched', isAborted: true }, { type: 'settled' });
  const opened = { type: 'opened', info: { ...info, step: 21 }, record: state.record };
  [state] = after(state, { type: 'goOn', slower: 1 }, opened, { type: 'start' }, { ...report(31), now: 900_000 });
  assert.equal(state.left, null);
  assert.equal(after(state, { ...report(41), now: 902_000 })[0].left, 59 / 5, 'a step takes a fifth of a second now');
});

test('after a training failure the run is back at its last checkpoint and can continue', () => {
  const [state, effects] = after(begun(), report(10), saved(10), report(20), { type: 'failed', reason: 'the loss diverged' });
  assert.deepEqual([state.status, state.problem, state.record.points.length, state.savedStep, effects], ['failed', 'the loss diverged', 1, 10, ['free']]);
  assert.deepEqual(after(state, { type: 'goOn', slower: 3 })[1], ['open']);
});

test('a finished run can be extended by its length, with a schedule up to the new end', () => {
  const [over] = after(begun(), report(100), saved(100), { type: 'stretched', isAborted: false }, { type: 'settled' });
  const opened = { type: 'opened', info: { ...info, step: 100 }, record: over.record, isSaved: true };
  const { state, effects } = run.reduce(after(over, { type: 'goOn', slower: 1 }, opened)[0], { type: 'extend' });
  assert.deepEqual([state.record.goal, effects], [{ steps: 200 }, [{ type: 'change', changes: { decay_steps: 200 } }]]);
  assert.deepEqual(after(state, { type: 'start' })[0].stretch.goal, { steps: 100 });
});

test('a budget counts what came before the first step, and a run that goes on gets the minutes that are left', () => {
  const budget = { steps: 900, epochs: 2, secondsPerStep: 0.12, seconds: 108 };
  const made = record.newRecord(experiment({ goal: { budget: 2 } }), { ...info, budget });
  assert.deepEqual([made.seconds, made.expectedSteps], [12, 900]);
  const state = { ...run.newState(made), step: 0 };
  assert.ok(Math.abs(run.remaining(state).budget - 1.8) < 1e-9);
  assert.equal(run.share(state), 0.1);
  assert.equal(run.remaining({ ...state, record: { ...made, seconds: 120 } }), null);
  assert.ok(record.intervals(made).validateEvery <= 300, 'there are scores on the way');
  const { state: extended } = run.reduce({ ...state, step: 900, record: { ...made, seconds: 120 } }, { type: 'extend' });
  assert.equal(extended.record.goal.budget, 4);
});

test('a failure to store a run is reported, and leaving then asks for confirmation', () => {
  const [state] = after(begun(), saved(0, 1000));
  assert.equal(run.isUnsaved(state, 5000), false);
  assert.equal(run.isUnsaved(state, 20_000), true);
  const [full] = after(state, { type: 'unkept', reason: 'full' });
  assert.deepEqual([full.unkept, run.isUnsaved(full, 1001)], ['full', true]);
  assert.equal(after(full, { type: 'kept' })[0].unkept, '');
});

test('a run that is open in another tab stays unchanged', () => {
  const [stored] = after(begun(), { type: 'stop' }, report(1), { type: 'stretched', isAborted: true }, { type: 'settled' });
  const [state, effects] = after(stored, { type: 'goOn', slower: 1 }, { type: 'elsewhere', before: 'stored' });
  assert.deepEqual([state.status, state.isElsewhere, effects], ['stored', true, []]);
});

test('events do not change earlier states', () => {
  const state = begun();
  const copy = structuredClone(state);
  after(state, report(1, { validation }), { type: 'pin', text: 'z' }, saved(1), { type: 'pause' });
  assert.deepEqual(state, copy);
});

test('a run of an encoder records its scores, and the expected and found labels', () => {
  const annotation = { labels: [{ label: 'weather', probability: 1 }, { label: 'music', probability: 0 }], tokens: [{ tag: 'O' }, { tag: 'B-x' }] };
  const annotated = [{ source: 'play it', labels: ['music'], tags: ['O', 'O'], reference: 'music\tO O', annotation }];
  const [state] = after(begun({ metric: 'accuracy' }), report(10, { validation: { loss: 1, accuracy: 50, spanF1: 20, isBest: true, samples: [], annotated } }));
  assert.deepEqual(state.record.points[0].valid, { loss: 1, accuracy: 50, spanF1: 20 });
  assert.deepEqual(state.record.found, [{ text: 'play it', label: ['music', 'weather'], tags: [['O', 'O'], ['O', 'B-x']] }]);
});

test('labeled lines become texts with labels or an error', async () => {
  const { own } = await load('train/labelled.ts');
  const lines = ['a\tx y', '', 'b\tx  z', 'a\tx w', 'b\tx y\tend'].join('\n');
  const { labeled, validation } = own(lines);
  assert.deepEqual(labeled, [['a', 'x y'], ['b', 'x z'], ['a', 'x w'], ['b', 'x y end']]);
  assert.equal(validation, 1);
  assert.deepEqual(own('a\tx\nb'), { why: 'noTab', row: 2, text: 'b' });
});

test('runs are compared only where they learn the same data by the same score', () => {
  const of = (name, setup, metric = 'exactMatch') => ({ name, setup, metric });
  const dates = of('Dates', 'data:dates');
  assert.ok(record.areComparable(dates, of('Dates · post-norm', 'data:dates,norm:post')));
  assert.ok(!record.areComparable(dates, of('Reverse', 'data:reverse')));
  assert.ok(!record.areComparable(dates, of('Dates', 'data:dates', 'bleu')));
  assert.ok(record.areComparable(of('mine.tsv, 30 pairs', null), of('mine.tsv, 30 pairs · post-norm', null)));
  assert.ok(!record.areComparable(of('mine.tsv, 30 pairs', null), of('other.tsv, 30 pairs', null)));
});

test('with fewer than 50 validation pairs the score counts right ones; the watched output has its reference', async () => {
  const { scoreOf } = await load('train/score.ts');
  const points = [{ step: 1, valid: { bleu: 81.2, exactMatch: 50 } }];
  const scored = (validationTexts) => ({ ...begun().record, validationTexts, points });
  assert.equal(scoreOf(scored(2)), '1 of 2 right');
  assert.equal(scoreOf(scored(50)), '81.2 BLEU');
  const [{ record: after }] = [run.reduce(begun(), report(25, { validation })).state];
  assert.equal(record.referenceOf(after, 'ab'), 'ba');
  assert.equal(record.referenceOf(after, 'x'), undefined);
});

test('a name of the visitor stands in place of what the run learns, stays with it, and does not change what it is compared with', () => {
  let [state, effects] = after(begun(), saved(0), report(25), { type: 'named', name: 'My first' });
  assert.deepEqual([record.nameOfRun(state.record), state.record.name, effects], ['My first', 'Reverse', []]);
  assert.equal(state.checkpoint.ownName, 'My first', 'also where the run goes back to its checkpoint');
  assert.ok(record.areComparable(state.record, begun().record));
  assert.equal(record.nameOfRun(record.fromMetadata(record.toMetadata(state.record))), 'My first');
  [state] = after(state, report(30), { type: 'named', name: '' });
  assert.equal(record.nameOfRun(state.record), 'Reverse');
});
