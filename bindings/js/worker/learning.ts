// A model in the module that learns from one sentence at a time.
import type { Learner } from '../generated/module.js';
import { wellFormed } from '../shared/checks.js';
import type { BackwardPass } from '../shared/learner-types.js';
import { Model } from './inference.js';

export class Learning extends Model<Learner> {
  backward(source: string, target: string): BackwardPass {
    return this.instance.call(() => this.native.backward(wellFormed(source), wellFormed(target))) as BackwardPass;
  }

  step(source: string, target: string, rate: number): BackwardPass {
    return this.instance.call(() => this.native.step(wellFormed(source), wellFormed(target), rate)) as BackwardPass;
  }

  undo(): void {
    this.instance.call(() => this.native.undo());
  }
}
