// Text that is typed and its translation, sentence by sentence.
import { untrack } from 'svelte';
import { SvelteMap } from 'svelte/reactivity';
import type { Translation, Translator } from 'wasmformer';
import beamSize from 'virtual:search-width';
import ready from 'virtual:ready';
import type { Maps } from '../shared/attention/attention';
import { examples, isExample } from './examples';
import { joinSentence, splitSentences, type SentencePart } from 'wasmformer/webpages';
import { createUrlState, NOT_OF_OTHERS, type UrlState } from '../shell/url-state.svelte';
import { createModels, type Models } from '../models/models.svelte';
import { createTerms, type Terms } from './terms/terms.svelte';
import { type Problem } from '../shared/words/words';
import type { Stores } from '../shared/stores.svelte';

/** A finished translation together with the sentence that it is of. */
export interface Shown extends Omit<Translation, 'attention'> {
  source: string;
  /** The target was made to begin with these tokens. */
  forced: readonly number[];
  attention: { encoder: Maps; decoder: Maps; cross: Maps };
}

export interface Sentence extends SentencePart {
  /** Its translation, or, as long as that is not there, the one that stood in its place. */
  shown: Shown | null;
  fresh: boolean;
  /** The beginning of a translation that is on its way. */
  partial: string;
}

const TYPING_PAUSE = 80; // ms without a key before the search starts
const LONGEST_IN_LINK = 6000; // characters
const TOGETHER = 8; // sentences per call: few, so that a new key discards little
const KEPT = 150; // translations
const CANDIDATES = 8;
/** The default of the package. */
export const BEAM_SIZE = beamSize;
/** Options of translate() for views that look inside the model. */
export const INSIDE = { attention: true, internals: true, topTokens: CANDIDATES };

const inLink = (text: string) => (text !== '' && text.length <= LONGEST_IN_LINK ? text : null);

/** The maps of a text that was only copied, as one in unknown letters: nothing attended to anything. */
function noAttention({ info: { config } }: Translator): Shown['attention'] {
  const maps = (layers: number): Maps => ({ layers, heads: config.num_heads, rows: 0, columns: 0, data: [] });
  const decoder = maps(config.decoder_layers);
  return { encoder: maps(config.encoder_layers), decoder, cross: decoder };
}

/** A sentence together with how its translation is made to begin. */
const keyOf = (source: string, forced: readonly number[]) => JSON.stringify([source, forced]);

export class TranslationStore {
  readonly #urlState!: UrlState;
  readonly #models!: Models;
  readonly #terms!: Terms;
  source = $state('');
  sentences = $state.raw<Sentence[]>([]);
  running = $state(false);
  problem = $state.raw<Problem | null>(null);
  #tail = '';

  /** The sentence that is looked at. */
  readonly chosen = $derived(
    Math.max(0, Math.min((Number(this.#urlState.parameters.sentence) || 1) - 1, this.sentences.length - 1)),
  );
  readonly sentence = $derived<Sentence | undefined>(this.sentences[this.chosen]);
  readonly shown = $derived(this.sentence?.shown ?? null);
  /** The shown translation is that of the sentence in the box. */
  readonly fresh = $derived(this.sentence?.fresh ?? false);
  /** How it was made to begin and which terms it had to use, for a search that is to find it again. */
  readonly conditions = $derived.by(() => ({
    prefix: this.shown && this.shown.forced.length > 0 ? this.shown.forced : undefined,
    glossary: this.#terms.glossary,
  }));
  /** Key of the text to show while there is no translation, or nothing of the model's to look at. */
  readonly hint = $derived.by(() => {
    if (this.source.trim() === '') return 'typeAbove';
    if (this.shown?.targetTokens.length === 0) return 'onlyCopied';
    return this.#models.translator ? 'translating' : 'waiting';
  });
  readonly finished = $derived(this.sentences.length > 0 && this.sentences.every(({ fresh }) => fresh));
  readonly examples = $derived(examples[this.#models.sourceCode ?? ''] ?? []);

  /** How translations of a sentence are made to begin. */
  #forced = new SvelteMap<string, readonly number[]>();
  #done = new Map<string, Shown>();
  #ready: Record<string, Shown> = {};
  #search: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(urlState: UrlState, models: Models, terms: Terms) {
    this.#urlState = urlState;
    this.#models = models;
    this.#terms = terms;
  }

  /** Begins with the link's text or an example, and translates whenever a model has come. */
  start() {
    const first = this.examples[0] ?? '';
    this.#setSource(this.#urlState.parameters.text ?? first);
    this.#readBegin();
    this.#placeReady();
    $effect.root(() => {
      // Another link, or a step in the history, may bring another text.
      $effect(() => {
        if (this.#urlState.arrivals > 0) untrack(() => this.#follow());
      });
      $effect(() => {
        const { translator } = this.#models;
        if (translator) untrack(() => this.#begin(translator));
      });
      let usedTerms = JSON.stringify(this.#terms.glossary);
      $effect(() => {
        const terms = JSON.stringify(this.#terms.glossary);
        if (terms === usedTerms) return;
        usedTerms = terms;
        untrack(() => this.#useTerms());
      });
    });
  }

  /** The ready-made translation of the model's first example, where that is in the box. */
  #placeReady() {
    const id = this.#models.model?.id ?? '';
    const example = ready[id];
    if (!example || this.source !== example.source || this.#terms.glossary) return;
    const {
      attention: { encoder, decoder, cross },
      ...rest
    } = example;
    const maps = ({ perMille, ...sizes }: typeof cross): Maps => ({
      ...sizes,
      data: perMille.map((weight) => weight / 1000),
    });
    this.#ready[id] ??= {
      ...rest,
      forced: [],
      attention: { encoder: maps(encoder), decoder: maps(decoder), cross: maps(cross) },
    };
    this.#keep(this.#ready[id]);
    this.#place();
  }

  /** The translation of the chosen sentence when nothing is forced, with all of its alternatives. */
  readonly free = $derived(this.shown && (this.#done.get(keyOf(this.shown.source, [])) ?? this.shown));

  /** A new key ends the search for the text before it, and starts its own after a short pause. */
  type(text: string, pause = TYPING_PAUSE) {
    this.replace(text);
    this.#timer = setTimeout(() => void this.#translate(), pause);
  }

  choose(index: number) {
    if (index !== this.chosen)
      this.#urlState.set({ sentence: index > 0 ? String(index + 1) : null, mask: null, from: null });
  }

  /** Puts another text into the box, to be translated by a model that is on its way. */
  replace(text: string) {
    this.#search?.abort();
    clearTimeout(this.#timer);
    const isOther = text !== this.#urlState.parameters.text;
    this.#setSource(text);
    if (isOther) this.#urlState.set({ ...NOT_OF_OTHERS, begin: this.#begins(), text: inLink(text) });
    else this.#readBegin();
  }

  /** Chooses the sentence around a place in the text. */
  chooseAt(offset: number) {
    this.choose(
      Math.max(
        0,
        this.sentences.findLastIndex(({ begin }) => begin <= offset),
      ),
    );
  }

  /** Makes the translation of a sentence begin with these; with none, it is free again. */
  force(source: string, beginning: readonly number[]) {
    if (beginning.length > 0) this.#forced.set(source, beginning);
    else this.#forced.delete(source);
    this.#urlState.set({ text: inLink(this.source), begin: this.#begins() });
    this.#place();
    void this.#translate();
  }

  /** The whole translation, with the line breaks of the text. */
  get text(): string {
    return (
      this.sentences
        .map((sentence) => joinSentence(sentence, this.#models.targetCode) + (sentence.shown?.text ?? ''))
        .join('') + this.#tail
    );
  }

  #follow() {
    const { text = this.source, begin = null } = this.#urlState.parameters;
    if (text !== this.source) this.type(text, 0);
    else if (begin !== this.#begins()) {
      this.#readBegin();
      void this.#translate();
    }
  }

  /** Translates everything again, with other terms. */
  #useTerms() {
    this.#search?.abort();
    this.#done.clear();
    this.#place();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#translate(), TYPING_PAUSE);
  }

  /** How the link has the beginnings: 1-25.7 3-9, each a sentence and its tokens. */
  #begins(): string | null {
    const all = this.sentences.map(({ source }, i) =>
      this.#forced.has(source) ? `${i + 1}-${this.#forced.get(source)!.join('.')}` : '',
    );
    return all.filter(Boolean).join(' ') || null;
  }

  #readBegin() {
    this.#forced.clear();
    for (const [, at, ids] of (this.#urlState.parameters.begin ?? '').matchAll(/(\d+)-(\d+(?:\.\d+)*)/g)) {
      const sentence = this.sentences[Number(at) - 1];
      if (sentence) this.#forced.set(sentence.source, ids.split('.').map(Number));
    }
    this.#place();
  }

  #begin(translator: Translator) {
    this.#search?.abort();
    this.#done.clear();
    this.#forced.clear();
    // The language may have changed, and with it the examples.
    const isForeign = isExample(this.source) && !this.examples.includes(this.source);
    if (isForeign && this.#urlState.parameters.text !== undefined)
      this.#urlState.set({ ...NOT_OF_OTHERS, text: null });
    this.#setSource(isForeign ? (this.examples[0] ?? '') : this.source);
    if (!this.#models.asked) this.#readBegin(); // a model that is asked about has tokens of its own
    this.#placeReady(); // it need not be made again
    void this.#translate(translator);
  }

  #setSource(text: string) {
    this.source = text;
    this.problem = null;
    const { parts, tail } = splitSentences(text, this.#models.sourceCode, this.#models.info?.config.max_length);
    this.#tail = tail;
    const before = this.sentences;
    for (const source of this.#forced.keys())
      if (!parts.some((part) => part.source === source)) this.#forced.delete(source);
    this.sentences = parts.map((part, i) => ({
      ...part,
      shown: before[i]?.shown ?? null,
      fresh: false,
      partial: '',
    }));
    this.#place();
  }

  #key(source: string): string {
    return keyOf(source, this.#forced.get(source) ?? []);
  }

  #keep(shown: Shown) {
    this.#done.set(keyOf(shown.source, shown.forced), shown);
  }

  /** Gives every sentence its translation, if that has been made. */
  #place(partials?: Map<string, string>) {
    this.sentences = this.sentences.map((sentence) => {
      const key = this.#key(sentence.source);
      const shown = this.#done.get(key);
      const partial = partials?.get(key) ?? '';
      if (shown ? sentence.shown === shown && sentence.fresh : !sentence.fresh && sentence.partial === partial)
        return sentence;
      return { ...sentence, shown: shown ?? sentence.shown, fresh: shown !== undefined, partial };
    });
  }

  async #translate(translator = this.#models.translator) {
    clearTimeout(this.#timer);
    this.#search?.abort();
    this.running = false;
    this.problem = null;
    if (!translator) return;
    const search = (this.#search = new AbortController());
    const begin = performance.now();
    let tokens = 0;
    this.running = true;
    try {
      for (let sources = this.#next(); sources.length > 0; sources = this.#next()) {
        const results = await this.#call(translator, sources, search.signal);
        search.signal.throwIfAborted();
        for (const shown of results) {
          this.#keep(shown);
          tokens += shown.targetTokens.length;
        }
        this.#models.tokensPerSecond = tokens / ((performance.now() - begin) / 1000);
        this.#place();
      }
      this.#forget();
    } catch (error) {
      if (!search.signal.aborted) this.problem = this.#models.failed(error);
    } finally {
      if (search === this.#search) this.running = false;
    }
  }

  /** Sentences to translate next: the chosen one alone, and then some more together. */
  #next(): string[] {
    const open = (sentence: Sentence | undefined) => sentence !== undefined && !sentence.fresh;
    if (open(this.sentence)) return [this.sentence!.source];
    const rest = [...new Set(this.sentences.filter(open).map(({ source }) => source))];
    const free = rest.filter((source) => !this.#forced.has(source));
    return free.length > 0 ? free.slice(0, TOGETHER) : rest.slice(0, 1);
  }

  async #call(translator: Translator, sources: string[], signal: AbortSignal): Promise<Shown[]> {
    const forced = this.#forced.get(sources[0]) ?? [];
    const keys = sources.map((source) => this.#key(source));
    const results = await translator.translate(sources, {
      beamSize: BEAM_SIZE,
      nBest: BEAM_SIZE,
      attention: true,
      topTokens: CANDIDATES,
      prefix: forced,
      glossary: this.#terms.glossary,
      signal,
      onPartial: (partials) => {
        if (!signal.aborted) this.#place(new Map(partials.map((partial, i) => [keys[i], partial])));
      },
    });
    const none = noAttention(translator);
    return results.map((result, i) => ({ ...result, source: sources[i], forced, attention: result.attention ?? none }));
  }

  /** Keeps the translations that stand in the text and the newest others. */
  #forget() {
    const used = new Set(this.sentences.map(({ source }) => this.#key(source)));
    for (const key of [...this.#done.keys()].slice(0, -KEPT)) if (!used.has(key)) this.#done.delete(key);
  }
}

export const createTranslation = (stores: Stores) =>
  new TranslationStore(stores.get(createUrlState), stores.get(createModels), stores.get(createTerms));
