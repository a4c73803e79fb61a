// A lesson for one model: the right answer of a sentence, what its loss depends on, and the steps that were taken.
import { untrack } from 'svelte';
import { Learner, Translator, type BackwardPass } from 'wasmformer';
import { createLaboratory, type Laboratory } from '../laboratory/laboratory.svelte';
import type { Trial } from '../laboratory/trials';
import { createModels, type Models } from '../models/models.svelte';
import type { Stores } from '../shared/stores.svelte';
import { reason, type Reason } from '../shared/words/reason';
import { createTranslation, type TranslationStore } from '../translate/translation.svelte';

const PAUSE = 300; // ms without a key before a new pair is computed
export const PAGE = 'page'; // the choice of the page's model

interface Surroundings {
  models: Models;
  translation: TranslationStore;
  laboratory: Laboratory;
}

/** A copy of a model that learns, and what must be disposed of after it. */
interface Pupil {
  learner: Learner;
  own?: Translator;
}

/** A step: what it was expected to lower the loss by, and what it did. */
interface Step {
  expected: number;
  found: number;
}

export class Learning {
  readonly #surroundings!: Surroundings;
  /** The page's model, or an arm of the laboratory. */
  choice = $state(PAGE);
  source = $state('');
  target = $state('');
  rate = $state(0.05);
  steps = $state(0);
  busy = $state(false);
  problem = $state.raw<Reason | null>(null);
  /** Before all steps, and now. */
  first = $state.raw<BackwardPass | null>(null);
  pass = $state.raw<BackwardPass | null>(null);
  translations = $state.raw<{ before: string; after: string }>({ before: '', after: '' });
  last = $state.raw<Step | null>(null);
  #pupil = $state.raw<Pupil | null>(null);
  #work = 0; // counts what was asked for: an answer that comes late is dropped
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Arms that the laboratory has trained to the end. */
  readonly arms = $derived.by(() => this.#surroundings.laboratory.trials.filter(({ model }) => model));
  readonly #arm = $derived(this.arms.find(({ arm }) => arm === this.choice));
  /** With the first translation comes the first right answer. */
  readonly #hasSentence = $derived.by(() => this.#surroundings.translation.shown !== null);
  readonly config = $derived(this.#pupil?.learner.info.config);
  readonly isEmpty = $derived(this.source.trim() === '' || this.target.trim() === '');

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
    $effect(() => {
      const { translator } = surroundings.models;
      const arm = this.#arm;
      if (translator && (arm || this.#hasSentence)) untrack(() => void this.#begin(translator, arm));
    });
    $effect(() => () => this.#end());
  }

  /** To be called after a change of the pair. */
  change() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#compute(this.#look), PAUSE);
  }

  step = () =>
    this.#compute(async (learner, isWanted) => {
      const { source, target, rate } = this;
      const before = await learner.step(source, target, { learningRate: rate });
      this.steps += 1;
      const pass = await learner.backward(source, target);
      const { text } = await learner.translate(source);
      if (!isWanted()) return;
      this.pass = pass;
      this.last = { expected: rate * before.parameterNorm ** 2, found: before.loss - pass.loss };
      this.translations = { ...this.translations, after: text };
    });

  undo = () =>
    this.#compute(async (learner, isWanted) => {
      await learner.undo();
      if (isWanted()) this.steps = 0;
      await this.#look(learner, isWanted);
    });

  /** The pair as the weights are now, which further steps are compared with. */
  readonly #look = async (learner: Learner, isWanted: () => boolean) => {
    if (this.isEmpty) return;
    const { source, target } = this;
    const pass = await learner.backward(source, target);
    const { text } = await learner.translate(source);
    if (!isWanted()) return;
    this.first = this.pass = pass;
    this.last = null;
    this.translations = { before: text, after: '' };
  };

  async #begin(translator: Translator, arm: Trial | undefined) {
    this.#end();
    this.first = this.pass = this.last = null;
    this.steps = 0;
    const work = ++this.#work;
    this.busy = true;
    try {
      const pupil = await pupilOf(translator, arm);
      if (work !== this.#work) return dispose(pupil);
      this.#pupil = pupil;
      this.#takePair(arm);
      await this.#compute(this.#look);
    } catch (error) {
      if (work === this.#work) this.problem = reason(error);
    } finally {
      if (work === this.#work) this.busy = false;
    }
  }

  /** The pair to begin with: the sentence of the page and its translation, or one that the arm was tested with. */
  #takePair(arm: Trial | undefined) {
    const { shown } = this.#surroundings.translation;
    this.source = arm?.shown?.source ?? shown?.source ?? '';
    this.target = arm?.shown?.reference ?? shown?.text ?? '';
  }

  async #compute(work: (learner: Learner, isWanted: () => boolean) => Promise<void>) {
    const learner = this.#pupil?.learner;
    if (!learner) return;
    const number = ++this.#work;
    const isWanted = () => number === this.#work;
    this.busy = true;
    this.problem = null;
    try {
      await work(learner, isWanted);
    } catch (error) {
      if (isWanted()) this.problem = reason(error);
    } finally {
      if (isWanted()) this.busy = false;
    }
  }

  #end() {
    this.#work += 1;
    clearTimeout(this.#timer);
    if (this.#pupil) dispose(this.#pupil);
    this.#pupil = null;
  }
}

/** A copy of the translator's model, or of the arm's, in the same worker. */
async function pupilOf(translator: Translator, arm: Trial | undefined): Promise<Pupil> {
  const own = arm && (await Translator.load(arm.model!, { shareWith: translator }));
  try {
    return { learner: await Learner.create(own ?? translator), own };
  } catch (error) {
    own?.dispose();
    throw error;
  }
}

function dispose({ learner, own }: Pupil) {
  learner.dispose();
  own?.dispose();
}

/** The lesson of a view that begins now. */
export const newLearning = (stores: Stores) =>
  new Learning({
    models: stores.get(createModels),
    translation: stores.get(createTranslation),
    laboratory: stores.get(createLaboratory),
  });
