// The laboratory without a browser: ablations as data, links and files, names, the order of trials, curves, verdicts.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { load } from './load.mjs';

let ablations, trials, verdicts, curves, naming, telling, words;
before(async () => {
  [ablations, trials, verdicts, curves, naming, telling, words] = await load(
    ['ablation', 'trials', 'verdict', 'curves', 'naming', 'telling', 'words'].map((name) => `laboratory/${name}.ts`));
});

const two = (more = {}) => ({
  id: 'mine', task: 'dates', steps: 100, base: { num_heads: 1 },
  arms: [{ id: 'a', set: { attention: 'scaled_dot' } }, { id: 'b', set: { attention: 'dot' } }],
  claim: { best: 'a', worse: 'b', metric: 'exactMatch' }, ...more,
});
const scores = (exactMatch, loss = 1) => ({ exactMatch, loss, bleu: 0, chrf: 0 });
const trial = (arm, seed, exactMatch, more = {}) => ({
  arm, seed, status: 'done', points: [{ step: 100, loss: 1, scores: scores(exactMatch) }], ...more,
});
/** Trials of the arms a and b with these final scores, seed by seed. */
const finals = (a, b) => [...a.map((score, i) => trial('a', i + 1, score)), ...b.map((score, i) => trial('b', i + 1, score))];

test('an ablation survives its link and its file', () => {
  const mine = two({ pairs: 500 });
  const link = ablations.toLink(mine);
  assert.deepEqual(ablations.fromLink(link), mine);
  assert.deepEqual(ablations.parse(ablations.toText(mine)), mine);
  const [shipped] = ablations.ABLATIONS;
  assert.equal(ablations.toLink(shipped), shipped.id);
  assert.deepEqual(ablations.fromLink(shipped.id), shipped);
  const more = ablations.withArm(shipped, shipped.arms[0], 'dropout', 0.3);
  assert.deepEqual(ablations.fromLink(ablations.toLink(more)).arms, more.arms);
});

test('a text that is no ablation says what is wrong with it', () => {
  const wrong = (change) => ablations.parse(JSON.stringify({ ...two(), ...change }));
  const arm = (set) => ({ arms: [...two().arms, { id: 'c', set }] });
  for (const [change, why, name] of [
    [{ task: 'chess' }, 'task', 'chess'],
    [{ steps: 0 }, 'steps', '0'],
    [{ pairs: 1e9 }, 'pairs', '1000000000'],
    [{ longest: 0 }, 'longest', '0'],
    [{ also: [{ best: 'nobody', worse: 'a', metric: 'loss' }] }, 'claim', ''],
    [{ arms: [] }, 'arms', ''],
    [{ arms: [two().arms[0], two().arms[0]] }, 'names', ''],
    [arm({ colour: 'red' }), 'setting', 'colour'],
    [arm({ attention: 'loud' }), 'value', 'attention'],
    [arm({ dropout: 7 }), 'value', 'dropout'],
    [arm({ num_heads: 1.5 }), 'value', 'num_heads'],
    [{ claim: { best: 'a', worse: 'nobody', metric: 'exactMatch' } }, 'claim', ''],
    [{ claim: { best: 'a', worse: 'b', metric: 'beauty' } }, 'claim', ''],
  ]) assert.deepEqual(wrong(change), { why, name }, JSON.stringify(change));
  assert.equal(ablations.parse('{').why, 'notJson');
  assert.equal(ablations.parse('[]').why, 'notJson');
  assert.deepEqual(ablations.fromLink('no-such'), { why: 'notJson', name: 'no-such' });
});

test('an arm is copied with one setting changed, once, and can be taken away unless the claim needs it', () => {
  const mine = two();
  const more = ablations.withArm(mine, mine.arms[1], 'num_heads', 8);
  assert.deepEqual(more.arms[2].set, { attention: 'dot', num_heads: 8 });
  assert.equal(ablations.withArm(more, mine.arms[1], 'num_heads', 8), more, 'there is such an arm');
  assert.equal(ablations.withArm(mine, mine.arms[1], 'attention', 'scaled_dot'), mine);
  assert.equal(ablations.withArm(mine, mine.arms[0], 'num_heads', 1), mine, 'as in the base');
  assert.equal(ablations.withArm(mine, mine.arms[0], 'positions', 'sinusoidal'), mine, 'as in every model');
  assert.deepEqual(ablations.withoutArm(more, more.arms[2].id), mine);
  assert.equal(ablations.withoutArm(more, 'b'), more);
  assert.equal(ablations.originOf(more), undefined);
});

test('every ablation of the page has its words in both languages, and arms with names of their own', () => {
  const all = JSON.parse(readFileSync(new URL('../../web/src/laboratory/ablations.json', import.meta.url), 'utf8'));
  const ids = all.map(({ id }) => id);
  assert.ok(ids.length >= 3 && new Set(ids).size === ids.length);
  assert.equal(ablations.ABLATIONS.length, all.length, 'the package has all their settings');
  const table = words.labTable();
  for (const { id, arms } of all) {
    for (const kind of ['question', 'claim', 'why', 'paper']) assert.ok(table[`${kind}_${id}`], `${kind}_${id}`);
    const names = arms.map(naming.armName);
    assert.equal(new Set(names).size, names.length, `${id}: ${names}`);
    for (const name of names) assert.doesNotMatch(name, /_|:|true|false/, `${id}: ${name}`);
  }
});

test('each claim of the page says in how many of 20 runs it held, as the table of the log does', () => {
  const log = readFileSync(new URL('../bench/LAB.md', import.meta.url), 'utf8');
  const counted = [...log.matchAll(/^\| `(\w+)` \| (loss: )?([\w-]+) [^|]*? [<>] ([\w-]+) [^|]*\| (\d+) \|/gm)];
  const ofLog = counted.map(([, id, loss, best, worse, holds]) =>
    ({ id, best, worse, metric: loss ? 'loss' : 'exactMatch', holds: Number(holds) }));
  const ofPage = ablations.ABLATIONS.flatMap(({ id, claim, also = [] }) => [claim, ...also].map((one) => ({ id, ...one })));
  assert.deepEqual(ofPage, ofLog);
  const sure = ablations.ABLATIONS.filter(({ claim }) => claim.holds >= ablations.ALWAYS);
  assert.ok(sure.length >= 8, `${sure.length} hold nearly always`);
  const [heads] = telling.heldOf(ablations.ABLATIONS.find(({ id }) => id === 'heads'));
  assert.equal(heads, 'Often, not always: in 18 of 20 runs with different seeds, “8 heads” was better than “1 head” (exact matches, %).');
  assert.deepEqual(telling.heldOf({ ...two(), claim: { ...two().claim, holds: 3 } }), [], 'one of the visitor is not counted');
});

test('runs and arms are named by what differs', () => {
  const { armName, runName } = naming;
  assert.equal(armName({ id: 'x', set: { norm: 'post', warmup_steps: 0 } }), 'post-norm · no warm-up');
  assert.equal(armName({ id: 'x', set: { num_heads: 8 } }), '8 heads');
  assert.equal(armName({ id: 'x', set: { num_heads: 1 } }), '1 head');
  assert.equal(armName({ id: 'x', set: { clip_norm: 0.5 } }), 'Gradient clipping (0 = off): 0.5');
  assert.equal(armName({ id: 'x', set: { positions: 'sinusoidal_marian' } }), 'Positional encoding: sinusoidal, as in Marian');
  assert.equal(armName({ id: 'x', set: {} }), 'nothing changed');
  assert.equal(runName(two(), two().arms[1]), 'Dates · q·k, not scaled');
});

test('all arms train with the first seed before any trains with the next, as many at a time as there are cores', () => {
  const { next, planned } = trials;
  let plan = planned(two());
  assert.deepEqual(plan.map(({ arm, seed }) => arm + seed), ['a1', 'b1', 'a2', 'b2', 'a3', 'b3']);
  const begin = (workers) => {
    const begun = next(plan, workers);
    plan = plan.map((one) => (begun.includes(one) ? { ...one, status: 'running' } : one));
    return begun.map(({ arm, seed }) => arm + seed);
  };
  assert.deepEqual(begin(3), ['a1', 'b1', 'a2']);
  assert.deepEqual(begin(3), []);
  plan = plan.map((one) => (one.arm === 'b' && one.seed === 1 ? { ...one, status: 'done' } : one));
  assert.deepEqual(begin(3), ['b2']);
});

test('stopping keeps what is done and begins the rest anew; new arms join without losing the others', () => {
  const points = [{ step: 10, loss: 2 }];
  const before = trials.planned(two()).map((one) => {
    if (one.seed === 1) return trial(one.arm, 1, 50);
    return one.seed === 2 ? { ...one, status: 'running', points } : one;
  });
  const half = trials.stopped(before);
  assert.deepEqual(half.map(({ status }) => status), ['done', 'done', 'waiting', 'waiting', 'waiting', 'waiting']);
  assert.deepEqual(half[2].points, points, 'its curve stays');
  assert.equal(trials.share(half, two()), 1 / 3);
  assert.ok(Math.abs(trials.share(before, two()) - 2.2 / 6) < 1e-9);
  const more = ablations.withArm(two(), two().arms[0], 'num_heads', 4);
  const plan = trials.replanned(more, half);
  assert.deepEqual(plan.map(({ status }) => status).slice(0, 3), ['done', 'done', 'waiting']);
  assert.equal(plan.length, 9);
});

test('what a trial reports becomes points, scores and the watched sentence; divergence is a result', () => {
  const translation = { text: 'ba', sourceTokens: [{ piece: 'a' }], targetTokens: [{ piece: 'b' }] };
  const samples = [{ source: 'ab', reference: 'ba', translation }];
  let one = trials.planned(two())[0];
  one = trials.reported(one, { step: 10, loss: 2 });
  assert.equal(trials.scoreOf(one, 'exactMatch'), null);
  one = trials.reported(one, { step: 20, loss: 1.5, validation: { loss: 1.2, exactMatch: 40, bleu: 1, chrf: 2, samples } });
  assert.deepEqual(one.points, [{ step: 10, loss: 2 }, { step: 20, loss: 1.5, scores: { loss: 1.2, exactMatch: 40, bleu: 1, chrf: 2 } }]);
  assert.deepEqual([one.shown.reference, one.shown.snapshot.text], ['ba', 'ba']);
  assert.equal(trials.scoreOf(one, 'loss'), 1.2);
  const diverged = trials.broken(one, { code: 'loss-not-finite', details: {}, text: '' });
  assert.deepEqual([diverged.status, trials.scoreOf(diverged, 'exactMatch'), trials.scoreOf(diverged, 'loss')], ['diverged', 0, Infinity]);
  const failed = trials.broken(one, { code: 'memory', details: {}, text: '' });
  assert.deepEqual([failed.status, trials.scoreOf(failed, 'exactMatch')], ['failed', null]);
});

test('the verdict waits for all seeds, and needs them to agree by more than they vary', () => {
  const { verdictOf } = verdicts;
  const type = (a, b, ablation = two()) => verdictOf(ablation, finals(a, b)).type;
  assert.equal(verdictOf(two(), finals([90, 91, 92], [50, 51])), null);
  assert.equal(type([90, 91, 92], [50, 51, 52]), 'asClaimed');
  assert.equal(type([50, 51, 52], [90, 91, 92]), 'opposite');
  assert.equal(type([90, 91, 92], [89, 92, 80]), 'none', 'the seeds disagree');
  assert.equal(type([90, 90, 90], [89, 60, 89]), 'none', 'they agree, but by one seed alone');
  assert.equal(type([90, 90, 90], [89.5, 89.5, 89.5]), 'none', 'too small to matter');
  assert.equal(type([90, 90, 90], [90, 90, 90]), 'none');
  const { claim, ...unclaimed } = two();
  assert.equal(type([50, 51, 52], [90, 91, 92], unclaimed), 'seen');
  assert.deepEqual(verdictOf(unclaimed, finals([50, 51, 52], [90, 91, 92])).leaders, ['b']);
  assert.deepEqual(verdictOf(two(), finals([90, 91, 92], [91, 90, 92])).leaders.toSorted(), ['a', 'b']);
});

test('a lower loss is better, and arms that diverge with every seed are worse', () => {
  const byLoss = two({ claim: { best: 'a', worse: 'b', metric: 'loss' } });
  const losses = (arm, values) =>
    values.map((value, i) => trial(arm, i + 1, 0, { points: [{ step: 100, loss: 1, scores: scores(0, value) }] }));
  const type = (list) => verdicts.verdictOf(byLoss, list).type;
  assert.equal(type([...losses('a', [0.1, 0.1, 0.12]), ...losses('b', [0.5, 0.5, 0.52])]), 'asClaimed');
  const diverged = [1, 2, 3].map((seed) => trial('b', seed, 0, { status: 'diverged' }));
  assert.equal(type([...losses('a', [0.1, 0.1, 0.12]), ...diverged]), 'asClaimed');
  const [, ...others] = diverged;
  assert.equal(type([...losses('a', [0.1, 0.1, 0.12]), ...losses('b', [0.1]), ...others]), 'none');
});

test('the verdict and the prediction are said with names and numbers', () => {
  const verdict = (a, b) => verdicts.verdictOf(two(), finals(a, b));
  const clear = verdict([90, 91, 92], [50, 51, 52]);
  assert.match(telling.verdictSentence(two(), clear), /“q·k \/ √dₖ” is better than “q·k, not scaled”: 91 against 51/);
  assert.match(telling.outcomeOf(two(), clear, 'a').predicted, /right/);
  assert.match(telling.outcomeOf(two(), clear, 'b').predicted, /differently/);
  const none = verdict([90, 91, 92], [91, 90, 92]);
  assert.match(telling.verdictSentence(two(), none), /^No difference seen/);
  assert.equal(telling.soFar(two(), finals([90], [50])), '“q·k / √dₖ” 90, “q·k, not scaled” 50 (exact matches, %).');
  assert.match(telling.soFar(two(), []), /“q·k \/ √dₖ” –/);
  const { first, predicted, rule } = telling.outcomeOf(two(), none, '', [{ ...none, metric: 'loss' }]);
  assert.match(rule, /at least 1 \(exact matches, %\), 0\.01 \(validation loss\)/, 'of each score that is told');
  assert.match(first, /shared/);
  assert.equal(predicted, '');
});

test('a second claim has a verdict of its own, by its own score', () => {
  const points = (exactMatch, loss) => [{ step: 100, loss: 1, scores: scores(exactMatch, loss) }];
  const list = [1, 2, 3].flatMap((seed) => [
    trial('a', seed, 0, { points: points(90, 0.5) }), trial('b', seed, 0, { points: points(10, 0.01) }),
  ]);
  const other = { best: 'b', worse: 'a', metric: 'loss' };
  const mine = two({ also: [other] });
  assert.deepEqual(ablations.fromLink(ablations.toLink(mine)), mine);
  assert.equal(verdicts.verdictOf(mine, list).type, 'asClaimed');
  assert.deepEqual(verdicts.verdictOf(mine, list, other).type, 'asClaimed');
  assert.equal(verdicts.verdictOf(mine, list, { ...other, best: 'a', worse: 'b' }).type, 'opposite');
});

test('curves are the mean of the finished seeds in a band; seeds under way are drawn beside them', () => {
  const points = (...values) => values.map((value, i) => ({ step: 10 * (i + 1), loss: 1, scores: scores(value) }));
  const [first] = curves.curvesOf(two(), [trial('a', 1, 0, { points: points(10, 20), status: 'running' })], 'exactMatch');
  assert.deepEqual(first, { arm: 'a', line: [[10, 10], [20, 20]], band: [], faint: [] });
  const [curve, other] = curves.curvesOf(two(), [
    trial('a', 1, 0, { points: points(10, 20) }),
    trial('a', 2, 0, { points: points(20, 40) }),
    trial('a', 3, 0, { points: points(5), status: 'running' }),
  ], 'exactMatch');
  assert.deepEqual(curve, { arm: 'a', line: [[10, 15], [20, 30]], band: [[10, 10, 20], [20, 20, 40]], faint: [[[10, 5]]] });
  assert.deepEqual(other.line, []);
  assert.equal(curves.topOf([curve], 'exactMatch'), 100);
  assert.equal(curves.topOf([{ ...curve, band: [] }], 'training'), 30);
});

test('labels at the ends of curves never lie on each other', () => {
  const places = curves.spread([100, 101, 102, 5, 199], 18, 200);
  const sorted = places.toSorted((a, b) => a - b);
  for (let i = 1; i < sorted.length; ++i) assert.ok(sorted[i] - sorted[i - 1] >= 18 - 1e-9, `${places}`);
  assert.ok(sorted[0] >= 9 && sorted.at(-1) <= 191);
  assert.deepEqual(curves.spread([50, 100], 18, 200), [50, 100]);
});

test('each row of Table 3 stands beside its change here, and its own numbers are kept as text', async () => {
  const { millionsOf, resultsIn, ROWS, theirs } = await load('laboratory/table3.ts');
  const told = Object.fromEntries(ROWS.map((row) => {
    const { perplexity, bleu } = row.printed;
    return [row.id, [theirs(row), perplexity, bleu, millionsOf(row)]];
  }));
  assert.deepEqual(told.base, ['N = 6, d = 512, h = 8', 4.92, 25.8, 65]);
  assert.deepEqual(told.h1, ['h = 1', 5.29, 24.9, null]);
  assert.deepEqual(told.n2, ['N = 2', 6.11, 23.7, 36]);
  assert.deepEqual(told.ff4096, ['d_ff = 4096', 4.75, 26.2, 90]);
  assert.deepEqual(told.ls0, ['ε_ls = 0.0', 4.67, 25.3, null]);
  assert.deepEqual(told.learned, ['', 4.92, 25.7, null]);
  assert.deepEqual(told.big, ['N = 6, d = 1024, h = 16', 4.33, 26.4, 213]);
  const own = { perplexity: 9, bleu: 10, parameters: 1e6, seconds: 60 };
  assert.deepEqual(resultsIn(JSON.stringify({ h1: own, nobody: own, h4: { bleu: 'high' } })), { h1: own });
  assert.deepEqual([resultsIn(null), resultsIn('{'), resultsIn('null')], [{}, {}, {}]);
});

/** Stands in for the package: trainers that report when they are told to. */
function trainers() {
  const all = [];
  class Trainer {
    isDisposed = false;
    static async create(options) {
      const trainer = Object.assign(new Trainer(), { options });
      all.push(trainer);
      return trainer;
    }
    async *run({ steps }) {
      await new Promise((resolve, reject) => Object.assign(this, { finish: resolve, fail: reject }));
      const { seed, config } = this.options;
      const exactMatch = 10 * seed + (config.attention === 'dot' ? 0 : 50);
      yield { step: steps, loss: 1, validation: { loss: 1, exactMatch, bleu: 0, chrf: 0, samples: [] } };
    }
    async save() {
      return new Blob(['model']);
    }
    dispose() {
      this.isDisposed = true;
    }
  }
  return { all, Trainer };
}
const until = async (holds) => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1));
};

/** A laboratory on two cores, and its trainers. */
async function onTwoCores() {
  Object.defineProperty(globalThis, 'navigator', { value: { hardwareConcurrency: 2 }, configurable: true });
  const { all, Trainer } = trainers();
  class WasmformerError extends Error {}
  const [{ Laboratory }, own] = await load(['laboratory/laboratory.svelte.ts', 'laboratory/ablation.ts'], { wasmformer: { Trainer, WasmformerError } });
  return { laboratory: new Laboratory(), all, own };
}

test('one press trains everything on as many workers as there are cores; the same seed goes to every arm', async () => {
  const { laboratory, all } = await onTwoCores();
  laboratory.open(two({ pairs: 200, longest: 5 }));
  laboratory.predict('b');
  laboratory.start();
  laboratory.predict('a');
  assert.equal(laboratory.prediction, 'b', 'a prediction is made before');
  for (const seed of trials.SEEDS) {
    await until(() => all.length === 2 * seed && all.every(({ finish }) => finish));
    assert.deepEqual(all.slice(-2).map(({ options }) => [options.seed, options.config.attention]), [[seed, 'scaled_dot'], [seed, 'dot']]);
    assert.equal(all.filter(({ isDisposed }) => !isDisposed).length, 2);
    for (const trainer of all.slice(-2)) trainer.finish();
  }
  await until(() => laboratory.isDone);
  const [{ options }] = all;
  assert.deepEqual([options.task, options.config.num_heads, options.threads], [{ name: 'dates', pairs: 200, longest: 5 }, 1, 1]);
  assert.deepEqual([all.length, laboratory.isDone, laboratory.isRunning, laboratory.share], [6, true, false, 1]);
  await until(() => all.every(({ isDisposed }) => isDisposed));
  assert.equal(verdicts.verdictOf(laboratory.ablation, laboratory.trials).type, 'asClaimed');
  assert.deepEqual(laboratory.trials.filter(({ model }) => model).map(({ seed }) => seed), [1, 1], 'models of the first seed are kept');
});

test('leaving ends the workers and is said; going on trains only what had not finished', async () => {
  const { laboratory, all, own } = await onTwoCores();
  laboratory.open(two());
  laboratory.start();
  await until(() => all.length === 2 && all.every(({ finish }) => finish));
  all[0].finish();
  await until(() => all.length === 3 && all[2].finish);
  laboratory.leave();
  assert.ok(all.every(({ isDisposed }) => isDisposed));
  assert.deepEqual([laboratory.wasLeft, laboratory.isRunning, laboratory.hasBegun], [true, false, true]);
  const before = all.length;
  laboratory.start();
  await until(() => all.length === before + 2 && all.at(-1).finish);
  assert.deepEqual(all.slice(before).map(({ options }) => [options.seed, options.config.attention]), [[1, 'dot'], [2, 'scaled_dot']]);
  // An arm that joins is trained; another ablation ends all.
  laboratory.open(own.withArm(two(), two().arms[0], 'num_heads', 4));
  assert.equal(laboratory.trials.length, 9);
  laboratory.open(two({ id: 'other' }));
  assert.ok(all.every(({ isDisposed }) => isDisposed));
  assert.deepEqual([laboratory.hasBegun, laboratory.trials.length], [false, 6]);
});

test('an arm that cannot be trained says why, and the others go on', async () => {
  const { laboratory, all } = await onTwoCores();
  laboratory.open(two());
  laboratory.start();
  await until(() => all.length === 2 && all.every(({ finish }) => finish));
  all[0].fail(new Error('no room'));
  await until(() => all.length === 3);
  const [first, second, third] = laboratory.trials;
  assert.deepEqual([first.status, first.problem.text, second.status, third.status], ['failed', 'no room', 'running', 'running']);
  laboratory.stop();
});
