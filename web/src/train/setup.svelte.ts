// Training settings chosen by the visitor, and the experiment that they make.
import type { PresetName, TrainerConfig, TrainerOptions } from 'wasmformer';
import { createUrlState, type UrlState } from '../shell/url-state.svelte';
import { createModels, type Models, titleOf } from '../models/models.svelte';
import { languageName, list, number } from '../shared/words/speech.svelte';
import type { Experiment } from './experiment';
import {
  defaultsOf,
  isShipped,
  isTask,
  isTuned,
  isUsed,
  MODEL,
  parse,
  presetOf,
  settingOf,
  short,
  shippedCount,
  TRAINING,
  validationOf,
  write,
  wrongs,
  type Key,
  type Values,
} from './fields';
import { BETWEEN, differencesOf } from './differences';
import { createOwnPairs, type OwnPairs, type Source } from './own-pairs.svelte';
import { pairsIn, shippedPairs } from '../shared/text/shipped';
import type { Wish } from '../shared/text/table';
import { examples } from '../translate/examples';
import { trainWords } from './words';
import type { Stores } from '../shared/stores.svelte';

const REHEARSED = [24, 2000]; // known pairs, at least and at most
/** Unicode's compatibility form would make Chinese punctuation ASCII's. */
const PUNCTUATION_STAYS = 'identity';
const RATE_DEPENDS_ON = ['schedule', 'learning_rate', 'd_model', 'warmup_steps'];

export class Setup {
  readonly #urlState!: UrlState;
  readonly #models!: Models;
  readonly #ownPairs!: OwnPairs;
  chosen = $state.raw<Partial<Values>>({});
  /** Columns that were chosen by hand. */
  columns = $state.raw<Partial<Pick<Wish, 'source' | 'target' | 'header'>>>({});

  readonly #own = $derived(this.chosen.data === 'own' ? (this.#ownPairs.sources.own?.made.pairs ?? 0) : 0);
  readonly values = $derived<Values>({ ...defaultsOf(this.chosen, this.#own), ...this.chosen });
  readonly isTuned = $derived(isTuned(this.values));
  readonly wrong = $derived.by(() => {
    const all = Object.entries(wrongs(this.values, this.#own || undefined));
    return Object.fromEntries(all.filter(([key]) => isUsed(key as Key, this.values))) as ReturnType<typeof wrongs>;
  });
  /** Settings in the form of a link; null if the data cannot be in a link. */
  readonly text = $derived(this.values.data === 'own' ? null : write({ data: this.values.data, ...this.chosen }));
  /** The table that the pairs are made of, and how. */
  readonly wanted = $derived.by(() => {
    const { data, lowercase, longest } = this.values;
    const filters = { lowercase: lowercase === 'yes', longest: Number(longest) };
    if (data === 'own') return { key: 'own', wish: { ...filters, ...this.columns } };
    if (!isShipped(data)) return null;
    const isTurned = !data.startsWith('en');
    const key = isTurned ? data.split('-').reverse().join('-') : data;
    const wish = {
      ...filters,
      source: Number(isTurned),
      target: Number(!isTurned),
      header: false,
      validationFrom: shippedCount(key),
    };
    return { key, wish, url: new URL(`pairs/${key}.tsv.gz`, document.baseURI).href };
  });
  /** The pairs as they are chosen now, as soon as they are there; a task needs none. */
  readonly source = $derived.by<Source | null>(() => {
    const there = this.wanted && this.#ownPairs.sources[this.wanted.key];
    return there && there.wish === JSON.stringify(this.wanted!.wish) ? there : null;
  });
  readonly ready = $derived(
    Object.keys(this.wrong).length === 0
    && (this.wanted === null || this.source !== null)
    && (!this.isTuned || this.#models.translator !== null),
  );

  constructor(urlState: UrlState, models: Models, ownPairs: OwnPairs) {
    this.#urlState = urlState;
    this.#models = models;
    this.#ownPairs = ownPairs;
  }

  set(key: Key, value: string) {
    const others: Partial<Values> = Object.fromEntries(
      Object.entries(this.chosen).filter(([other]) => other !== key),
    );
    // Another kind of data has defaults of its own; the settings of the old one would seldom fit it.
    if (key === 'data') this.chosen = { ...(others.seed ? { seed: others.seed } : {}), data: value };
    else this.chosen = value === { ...defaultsOf(others, this.#own) }[key] ? others : { ...others, [key]: value };
  }

  /** Back to the defaults of the data. */
  reset() {
    const { data, start } = this.values;
    this.chosen = { data, ...(start === 'model' && { start }) };
  }

  /** Takes the settings of a link or a card. */
  read(text: string) {
    this.chosen = parse(text);
  }

  /** The visitor's own pairs, which are chosen if they are pairs. */
  async take(input: Parameters<OwnPairs['take']>[0]) {
    const { lowercase, longest } = this.values;
    if (!(await this.#ownPairs.take(input, { lowercase: lowercase === 'yes', longest: Number(longest) }))) return;
    this.columns = {};
    if (this.values.data !== 'own') this.set('data', 'own');
  }

  /** Makes sure that the pairs are there. */
  async prepare(): Promise<boolean> {
    const wanted = this.wanted;
    if (wanted?.key === 'own' && !this.#ownPairs.sources.own) return false; // none were given yet
    return !wanted || (await this.#ownPairs.make(wanted.key, wanted.wish, wanted.url)) !== null;
  }

  readonly pairs = $derived.by(() => {
    if (this.source) return this.source.made.pairs;
    return isTask(this.values.data) ? Number(this.values.pairs) : null;
  });

  /** Name of the data, and of all differences from the defaults: 'Dates · post-norm · no warm-up'. */
  name(): string {
    return [this.#dataName(), ...differencesOf(this.chosen, this.values)].join(BETWEEN);
  }

  #dataName(): string {
    const { data } = this.values;
    if (isTask(data)) return trainWords(`data_${data}`);
    const count = trainWords('pairsCount', { count: number(this.pairs ?? 0) });
    const title = isShipped(data)
      ? data.split('-').map(languageName).join(' → ')
      : this.#ownPairs.sources.own?.facts.name || trainWords('data_own');
    return `${this.isTuned ? `${titleOf(this.#models.model!)} + ` : ''}${list([title, count])}`;
  }

  /** Only when `ready`. */
  async experiment(): Promise<Experiment> {
    const { data, goal, seed } = this.values;
    const [name, model, setup] = [this.name(), this.#model(), this.text];
    return {
      name,
      options: { ...(await this.#data()), ...model, seed: Number(seed) },
      goal: { [goal]: Number(this.values[goal as 'steps']) },
      metric: isTask(data) ? 'exactMatch' : 'bleu',
      setup,
      ...(isShipped(data) && { watch: examples[data.split('-')[0]!]?.[0] }),
    };
  }

  async #data(): Promise<TrainerOptions> {
    const { data, pairs: count, validation } = this.values;
    if (isTask(data)) return { task: { name: data, pairs: Number(count) } };
    const { tsv: blob, pairs: all, validation: kept, languages } = this.source!.made;
    const tsv = await blob.text();
    if (isShipped(data)) return { tsv, validation: kept, languages: data };
    if (this.isTuned) return this.#tuned(pairsIn(tsv), validationOf(validation, all));
    return { tsv, validation: validationOf(validation, all), ...(languages ? { languages } : {}) };
  }

  /** The model in use with pairs that it learns, and as many that it knows, against forgetting. */
  async #tuned(own: [string, string][], kept: number): Promise<TrainerOptions> {
    const known = await shippedPairs(this.#models.sourceCode, this.#models.targetCode).catch(() => []);
    const rehearsed = known.slice(0, Math.max(REHEARSED[0], Math.min(REHEARSED[1], own.length)));
    return { from: this.#models.from!, pairs: [...own.slice(kept), ...rehearsed], validation: own.slice(0, kept) };
  }

  #model(): TrainerOptions {
    const { data, goal, budget } = this.values;
    // The package chooses what the minutes allow.
    if (goal === 'budget') {
      const isChinese = data.includes('zh');
      const tokenizer = { type: 'bpe', normalization: PUNCTUATION_STAYS } as const;
      return { budget: Number(budget), ...(isChinese && { tokenizer }) };
    }
    const config = this.#config() as TrainerConfig;
    if (this.isTuned) return { config };
    return { preset: this.values.preset as PresetName, config, tokenizer: this.#tokenizer() };
  }

  /** The settings that differ from those of the preset, or that the model in use does not bring. */
  #config(): Record<string, string | number | boolean> {
    const preset: Partial<ReturnType<typeof presetOf>> = this.isTuned ? {} : presetOf(this.values.preset);
    const config: Record<string, string | number | boolean> = this.isTuned
      ? { attention_dropout: 0, activation_dropout: 0 }
      : {};
    for (const key of [...MODEL, ...TRAINING]) {
      const value = this.values[key];
      if (value === short(preset[key] ?? '') || !isUsed(key, this.values)) continue;
      config[key] = settingOf(key, value);
    }
    if (RATE_DEPENDS_ON.some((key) => key in config)) config.learning_rate = this.#rate();
    return config;
  }

  /** The package takes Noam's factor, not its peak, which another width or warm-up would change. */
  #rate(): number {
    const { schedule, learning_rate: peak, warmup_steps: warmup } = this.values;
    const width = this.isTuned ? this.#models.info!.config.d_model : this.values.d_model;
    const steps = Math.max(1, Number(warmup)); // without a warm-up the first step has the peak
    return Number(peak) * (schedule === 'noam' ? Math.sqrt(Number(width) * steps) : 1);
  }

  #tokenizer(): TrainerOptions['tokenizer'] {
    const { data, tokenizer: type, vocab, joint } = this.values;
    const hasPieces = type === 'bpe' || type === 'unigram';
    return {
      type: type as 'char',
      ...(type !== 'char' && { vocabSize: Number(vocab) }),
      ...(hasPieces && data.includes('zh') && { normalization: PUNCTUATION_STAYS }),
      joint: joint === 'yes',
    };
  }

  /** Follows the address. */
  follow() {
    const { setup } = this.#urlState.parameters;
    if (setup !== undefined && setup !== this.text) this.read(setup);
  }
}

export const createSetup = (stores: Stores) =>
  new Setup(stores.get(createUrlState), stores.get(createModels), stores.get(createOwnPairs));
