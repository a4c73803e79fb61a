// `wasmformer/options`: all options, with types, ranges, defaults and help. The build replaces this script by
// one with the values, and writes them to options.json too.
import type { Description } from './shared/description.js';

export type {
  Description, OptionDescription, PresetDescription, TaskDescription,
} from './shared/description.js';

export declare const options: Description;
