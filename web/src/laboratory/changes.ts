// Settings that an arm may change, and the values that they may take.
import { describedAs, fits, type Value } from './ablation';

const ALL = [
  'positions',
  'attention',
  'num_heads',
  'key_dim',
  'norm',
  'residual',
  'causal',
  'encoder_layers',
  'decoder_layers',
  'd_model',
  'ffn_dim',
  'activation',
  'dropout',
  'label_smoothing',
  'optimizer',
  'schedule',
  'learning_rate',
  'warmup_steps',
  'clip_norm',
  'batch_tokens',
];

/** Settings of this list that the package has. */
export const CHANGEABLE = ALL.filter((name) => describedAs(name) !== undefined);

/** All values of a setting, or null where it is a number. */
export function valuesFor(name: string): readonly Value[] | null {
  const { choices, type } = describedAs(name)!;
  if (choices) return choices;
  return type === 'boolean' ? [false, true] : null;
}

/** A value as it was typed or chosen; null if the setting does not take it. */
export function valueAs(name: string, text: string): Value | null {
  const choices = valuesFor(name);
  if (choices) return choices.find((choice) => String(choice) === text) ?? null;
  const value = Number(text);
  return text.trim() !== '' && fits(name, value) ? value : null;
}
