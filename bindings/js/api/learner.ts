// Figure 1 backwards: a copy of a translator's model that learns from one sentence at a time.
import { checked, isNumber, show, signal, type Rules } from '../shared/checks.js';
import { WasmformerTypeError } from '../shared/errors.js';
import type { BackwardPass, LearnOptions } from '../shared/learner-types.js';
import type { TranslatorInfo } from '../shared/types.js';
import { Connection, connections, disposed } from './connection.js';
import { RemoteTranslator, Translator } from './translator.js';

const defaultRate = 0.05;

const rules: Rules<LearnOptions> = {
  learningRate: { accepts: (value) => isNumber(value) && value > 0, expected: 'a number above 0' },
  signal,
};

/** @throws unless both are strings */
function checkPair(source: unknown, target: unknown): void {
  for (const [side, text] of [['source', source], ['target', target]] as const) {
    if (typeof text !== 'string') throw new WasmformerTypeError('learn', `the ${side} must be a string, not ${show(text)}`);
  }
}

/**
 * A copy of a translator's model, in its worker, that learns from one sentence at a time. Weights of int8 become floats;
 * the translator stays as it is. There is no dropout; as in training, no parts of texts are kept.
 * @example
 * const translator = await Translator.load('models/de-en.safetensors');
 * const learner = await Learner.create(translator);
 * const { losses, boxes } = await learner.backward('Danke!', 'Cheers!');
 * await learner.step('Danke!', 'Cheers!', { learningRate: 0.05 });
 * console.log((await learner.translate('Danke!')).text);
 * learner.dispose();
 */
export class Learner extends RemoteTranslator<TranslatorInfo> {
  /**
   * Copies the weights, which takes about sixteen bytes of memory for each.
   * @throws when the translator has been disposed of, or there is not enough memory
   */
  static async create(translator: Translator): Promise<Learner> {
    const site = new Error();
    if (!(translator instanceof Translator)) {
      throw new WasmformerTypeError('learn', `a Learner is made from a Translator, not from ${show(translator)}`);
    }
    const teacher = connections.get(translator)!;
    const connection = await Connection.open('learner', teacher);
    try {
      await connection.call('learn', { translator: teacher.key }, site, { owner: translator });
      return new Learner(translator.info, connection);
    } catch (error) {
      connection.close(disposed('it could not be started'));
      throw error;
    }
  }

  /**
   * The losses of the tokens of a right answer with the present weights, and the gradient in every box of figure 1.
   * @throws with the code 'no-text' when a text is empty, and 'too-long' when it has more tokens than the model takes
   */
  async backward(source: string, target: string, options: Pick<LearnOptions, 'signal'> = {}): Promise<BackwardPass> {
    const site = new Error();
    checkPair(source, target);
    const { signal } = checked<Pick<LearnOptions, 'signal'>>('learn', { signal: rules.signal }, options);
    return this.connection.call('backward', { source, target }, site, { signal, owner: this });
  }

  /**
   * Takes a step of gradient descent on one pair; returns what backward() returned before the step.
   * @throws as backward(), and with the code 'gradient-not-finite'; no weight has changed then
   */
  async step(source: string, target: string, options: LearnOptions = {}): Promise<BackwardPass> {
    const site = new Error();
    checkPair(source, target);
    const { signal, learningRate: rate = defaultRate } = checked<LearnOptions>('learn', rules, options);
    return this.connection.call('step', { source, target, rate }, site, { signal, owner: this });
  }

  /** Takes back all steps: the weights are those of the beginning. */
  async undo(): Promise<void> {
    await this.connection.call('undo', {}, new Error(), { owner: this });
  }
}
