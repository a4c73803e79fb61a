import type { Experiment } from '../train/experiment';

class Runs {
  /** What was started, the last first. */
  started = $state.raw<Experiment[]>([]);

  start(experiment: Experiment) {
    this.started = [experiment, ...this.started];
  }
}

export const runs = new Runs();
