// How fast this computer trains, in parameters times tokens a second: measured once, and by every run.
import { Trainer, type TrainerInfo } from 'wasmformer';
import { costOf } from './cost';
import { remember, remembered } from '../shell/settings.svelte';

const LASTS = 0.6; // seconds of the measurement
const WARM = 0.2; // and of its beginning, which is slower

class Pace {
  #rate = $state(Number(remembered('pace')) || 0);
  #isMeasuring = false;

  /** Seconds that a run takes, by what it costs; null where that is not known yet. */
  seconds = (work: number) => (this.#rate > 0 ? work / this.#rate : null);

  learn({ parameters, training }: Pick<TrainerInfo, 'parameters' | 'training'>, steps: number, seconds: number) {
    this.#rate = costOf(parameters, training.batch_tokens, steps) / seconds;
    remember('pace', String(Math.round(this.#rate)));
  }

  /** Trains for a moment, once in a browser. */
  async measure() {
    if (this.#rate > 0 || this.#isMeasuring) return;
    this.#isMeasuring = true;
    let trainer: Trainer | undefined;
    try {
      trainer = await Trainer.create({ task: { name: 'reverse', pairs: 500 } });
      let warm: { step: number; seconds: number } | undefined;
      for await (const { step, seconds } of trainer.run({ reportEvery: 1, samples: 0 })) {
        if (seconds > WARM) warm ??= { step, seconds };
        if (!warm || seconds < LASTS || step === warm.step) continue;
        this.learn(trainer.info, step - warm.step, seconds - warm.seconds);
        break;
      }
    } catch {
      // the cards say nothing, then
    } finally {
      trainer?.dispose();
      this.#isMeasuring = false;
    }
  }
}

export const pace = new Pace();
