import { remember, remembered } from './settings.svelte';

// The current run, for the parts of the page that do not load the Train view.
export interface Activity {
  name: string;
  /** Fraction of its goal that is reached, from 0 to 1. */
  share: number | null;
  /** Seconds; null where that is not known yet. */
  left: number | null;
}

export class Busy {
  #run = $state.raw<Activity | null>(null);
  /** The name of the run that was going on when the page was left. */
  left = $state(remembered('run') ?? '');

  get run() {
    return this.#run;
  }
  set run(run: Activity | null) {
    if (run?.name !== this.#run?.name) remember('run', (this.left = run?.name ?? ''));
    this.#run = run;
  }
}

export const createBusy = () => new Busy();
