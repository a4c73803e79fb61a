// All options, as the module describes them.
import type { PresetName, TaskName } from '../generated/options.js';

/** One option, as C++ declares and checks it. */
export interface OptionDescription {
  name: string;
  type: 'boolean' | 'integer' | 'number' | 'string' | 'object' | 'choice' | 'group' | 'list' | 'string or tokens';
  /** An earlier name, which is accepted as well. */
  alias?: string;
  /** Missing without a default. */
  default?: unknown;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  /** The words of a choice. */
  choices?: string[];
  /** Whether it may be left out without a default. */
  optional?: boolean;
  /** The options of a group. */
  fields?: OptionDescription[];
  /** What a list, or an object with any keys, holds. */
  item?: Omit<OptionDescription, 'name' | 'help'>;
  /** One sentence. */
  help: string;
}

export interface PresetDescription {
  name: PresetName;
  /** The highest learning rate of its schedule. */
  peak: number;
  /** The values of all settings. */
  config: Record<string, unknown>;
}

export interface TaskDescription {
  name: TaskName;
  help: string;
  /** An example. */
  source: string;
  target: string;
  /** Maximum number of pairs to train on. */
  maxPairs: number;
  /** @deprecated the same as maxPairs */
  mostPairs: number;
  /** Pairs and steps with which the preset 'toy' learns it. */
  pairs: number;
  steps: number;
}

export interface Description {
  presets: PresetDescription[];
  tasks: TaskDescription[];
  /** Settings of a model and its training, as in TrainerOptions.config. */
  config: OptionDescription[];
  /** The names of those in `config` that are of training; the others are of the model. */
  training: string[];
  /** Of Trainer.create and Trainer.resume; texts, files, threads and signals are not among them. */
  request: OptionDescription[];
  /** Of Trainer.run. */
  run: OptionDescription[];
  /** Of translate. */
  translate: OptionDescription[];
  /** Of classify and tag. */
  annotate: OptionDescription[];
  /** Of Trainer.evaluate. */
  evaluate: OptionDescription[];
}
