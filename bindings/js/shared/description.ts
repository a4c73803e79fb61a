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
  /** True if it may be left out although it has no default. */
  optional?: boolean;
  /** The options of a group. */
  fields?: OptionDescription[];
  /** Type of the items of a list, or of the values of an object with any keys. */
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
  /** Options of Trainer.create and Trainer.resume, except texts, files, threads and signals. */
  request: OptionDescription[];
  /** Options of Trainer.run. */
  run: OptionDescription[];
  /** Options of translate. */
  translate: OptionDescription[];
  /** Options of classify and tag. */
  annotate: OptionDescription[];
  /** Options of Trainer.evaluate. */
  evaluate: OptionDescription[];
}
