// Estimates the time that training would take, from one second of it.
import { Trainer, type TrainerInfo } from 'wasmformer';
import { reason, type Reason } from '../shared/words/reason';
import type { Experiment } from './experiment';

export class Calibration {
  facts = $state.raw<{ info: TrainerInfo; secondsPerStep: number; tokensPerSecond: number } | null>(null);
  problem = $state.raw<Reason | ''>('');
  busy = $state(false);

  #attempt: AbortController | null = null;

  async run(make: () => Promise<Experiment>) {
    this.cancel();
    const attempt = (this.#attempt = new AbortController());
    const { signal } = attempt;
    this.busy = true;
    this.problem = '';
    let trainer: Trainer | undefined;
    try {
      const { options } = await make();
      trainer = await Trainer.create({ ...options, signal });
      signal.addEventListener('abort', () => trainer!.dispose()); // a step may take long
      const times: number[] = [];
      let tokens = 0;
      for await (const event of trainer.run({ reportEvery: 1, signal })) {
        tokens += event.tokensPerSecond * (event.seconds - (times.at(-1) ?? 0));
        times.push(event.seconds);
        if (event.seconds >= 1) break;
      }
      if (signal.aborted) return;
      const seconds = times.at(-1)!;
      // The first step also takes its memory, and its code is not yet compiled to the end.
      const secondsPerStep = times.length > 1 ? (seconds - times[0]) / (times.length - 1) : seconds;
      this.facts = { info: trainer.info, secondsPerStep, tokensPerSecond: tokens / times.length / secondsPerStep };
    } catch (error) {
      if (signal.aborted) return;
      this.problem = reason(error);
      this.facts = null;
    } finally {
      trainer?.dispose();
      if (attempt === this.#attempt) this.busy = false;
    }
  }

  cancel() {
    this.#attempt?.abort();
    this.#attempt = null;
    this.busy = false;
  }
}

export const createCalibration = () => new Calibration();
