// The runs that the Train view lists: those that go on, and those that the browser keeps.
import { untrack } from 'svelte';
import type { Experiment } from './experiment';
import { deleteRun, storedRuns } from './store';
import { shortName } from './differences';
import { createBusy, type Busy } from '../shell/busy.svelte';
import { areComparable, nameOfRun, type RunRecord } from './record';
import { HEAD_COLOURS } from '../shared/attention/color';
import { runMaker, type Run } from './training-run.svelte';
import { reason, type Reason } from '../shared/words/reason';
import type { Stores } from '../shared/stores.svelte';

type MakeRun = (record?: RunRecord) => Run;

export class Runs {
  readonly #busy: Busy;
  readonly #make: MakeRun;
  all = $state.raw<Run[]>([]);
  /** The latest that can go on and does not. */
  readonly kept = $derived(this.all.find(({ now }) => now.status === 'stored' && now.savedStep));
  /** Open, above everything else. */
  chosen = $state.raw<Run | null>(null);
  problem = $state.raw<Reason | ''>('');
  #isListed = false;

  constructor(busy: Busy, make: MakeRun) {
    this.#busy = busy;
    this.#make = make;
    $effect.root(() => {
      $effect(() => {
        const run = this.all.find(({ isBusy }) => isBusy);
        const activity = run ? { name: shortName(nameOfRun(run.record)), share: run.share, left: run.now.left } : null;
        // Setting it also reads it, which would run this effect again without end.
        untrack(() => (this.#busy.run = activity));
      });
    });
    // The page may never be seen again.
    addEventListener('visibilitychange', () => document.hidden && this.#saveAll());
    addEventListener('beforeunload', (event) => {
      if (this.all.some((run) => run.isUnsaved)) event.preventDefault();
      this.#saveAll();
    });
  }

  /** Lists what is stored, once. */
  async list() {
    if (this.#isListed) return;
    this.#isListed = true;
    const stored = await storedRuns().catch(() => []); // forbidden; a run says so when it is to be kept
    this.all = [...this.all, ...stored.filter(({ id }) => !this.#has(id)).map((record) => this.#make(record))];
    this.chosen ??= this.kept ?? null;
  }

  start(experiment: Experiment) {
    const run = this.#make();
    const going = run.begin(experiment);
    this.#add(run);
    void going.then((hasBegun) => {
      if (!hasBegun && run.now.problem === '') void this.delete(run); // it was stopped before it began
    });
  }

  /** The color of a run in every list and chart, a property of basics.css; runs of other data have colors of their own. */
  colorOf(run: Run): string {
    const alike = this.all
      .filter(({ record }) => areComparable(record, run.record))
      .sort((a, b) => a.record.created - b.record.created);
    return `head-${(alike.indexOf(run) % HEAD_COLOURS) + 1}`;
  }

  /** Runs that can be compared with the one that is open. */
  readonly comparable = $derived.by(() => {
    const { chosen } = this;
    return chosen ? this.all.filter((run) => run !== chosen && areComparable(run.record, chosen.record)) : [];
  });

  async take(file: File) {
    this.problem = '';
    const run = this.#make();
    try {
      await run.read(file, (id) => this.#has(id));
      this.#add(run);
    } catch (error) {
      this.problem = reason(error);
    }
  }

  async delete(run: Run) {
    run.dispose();
    this.all = this.all.filter((other) => other !== run);
    if (this.chosen === run) this.chosen = null;
    await run.save(); // one that is on its way
    await deleteRun(run.record.id).catch(() => {});
  }

  #add(run: Run) {
    this.all = [run, ...this.all];
    this.chosen = run;
  }

  #has(id: string): boolean {
    return this.all.some(({ record }) => record.id === id);
  }

  #saveAll() {
    for (const run of this.all) if (run.now.status === 'running') void run.save();
  }
}

export const createRuns = (stores: Stores) => new Runs(stores.get(createBusy), runMaker(stores));
