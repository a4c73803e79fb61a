// Lets the computation travel through the picture: one decoding step after another, box by box.
import { kindOf, lengthOf, moved, stages, type Moment, type Stage } from './timeline';
import type { Sizes } from './place';

export class Player {
  step = $state(0);
  stage = $state(Infinity); // index into the step's stages; beyond them, the step is done
  playing = $state(false);
  /** How far the numbers have come on their way into the box, from 0 to 1. */
  share = $state(0);
  speed = $state(1);
  /** The last box whose kind was new: while it plays, the words beside the picture stay with it. */
  explained = $state.raw<Stage | null>(null);

  #met = new Set<string>(); // kinds of boxes since playing began at the beginning
  #frame = 0;
  #touched = false; // by the visitor: until then, playing begins at the beginning
  readonly #sizes: () => Sizes;
  readonly #steps: () => number;

  constructor(sizes: () => Sizes, steps: () => number) {
    this.#sizes = sizes;
    this.#steps = steps;
  }

  readonly at = $derived.by(() => Math.max(0, Math.min(this.step, this.#steps() - 1)));
  readonly stages = $derived.by<Stage[]>(() => stages(this.#sizes(), this.at));
  readonly order = $derived.by(() => Object.fromEntries(this.stages.map(({ box }, i) => [box, i])));
  /** The box that computes now; null when the step is done. */
  readonly now = $derived(this.stages[this.stage] ?? null);

  status(box: string): 'done' | 'now' | 'ahead' {
    const place = this.order[box] ?? -1;
    if (place < this.stage) return 'done';
    return place === this.stage ? 'now' : 'ahead';
  }

  get #moment(): Moment {
    return { step: this.at, stage: Math.min(this.stage, this.stages.length) };
  }

  /** A whole step, done. */
  show(step: number, touched = true) {
    this.pause();
    this.#touched = touched;
    this.step = step;
    this.stage = Infinity;
  }

  move(by: 1 | -1) {
    this.pause();
    this.#touched = true;
    this.#to(moved(this.#sizes(), this.#steps(), this.#moment, by));
  }

  /** Goes on from here; from the end, or from the picture at rest, it begins again. */
  play() {
    const isDone = this.stage >= this.stages.length;
    const next = moved(this.#sizes(), this.#steps(), this.#moment, 1);
    if (!this.#touched || !next) {
      this.#met.clear();
      this.#to({ step: 0, stage: 0 });
    } else if (isDone) this.#to(next);
    this.#touched = this.playing = true;
    let begin = performance.now();
    let isNewKind = this.#meet();
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const frame = (time: number) => {
      const length = lengthOf(this.stages[this.stage], this.at, isNewKind, this.speed) * (still ? 2 : 1);
      const share = (time - begin) / length;
      if (share < 1) {
        if (!still) this.share = Math.max(0, share);
      } else {
        begin = time;
        this.share = 0;
        const next = moved(this.#sizes(), this.#steps(), this.#moment, 1);
        if (!next) return this.pause();
        this.#to(next);
        isNewKind = this.#meet();
      }
      this.#frame = requestAnimationFrame(frame);
    };
    this.#frame = requestAnimationFrame(frame);
  }

  /** Returns whether a box of this kind computes for the first time. */
  #meet(): boolean {
    const stage = this.stages[this.stage];
    if (!stage || this.#met.has(kindOf(stage))) return false;
    this.#met.add(kindOf(stage));
    this.explained = stage;
    return true;
  }

  pause() {
    cancelAnimationFrame(this.#frame);
    this.playing = false;
    this.explained = null;
    this.share = 0;
  }

  #to(moment: Moment | null) {
    if (!moment) return;
    this.step = moment.step;
    this.stage = moment.stage;
    this.share = 0;
  }
}
