import type { Experiment } from '../train/experiment';

class Runs {
  start(experiment: Experiment) {
    console.log(experiment);
  }
}

export const runs = new Runs();
