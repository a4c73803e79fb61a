// How it works, without its drawing: the numbers of the visitor's sentence, the place that is looked at, which the
// address says, and the step that is played.
import { untrack } from 'svelte';
import ready from 'virtual:ready';
import { createModels, titleOf, type Models } from '../models/models.svelte';
import { END_PIECE } from '../shared/attention/attention';
import { pieceName } from '../shared/attention/piece-names';
import type { Stores } from '../shared/stores.svelte';
import { createUrlState, type UrlState, type View } from '../shell/url-state.svelte';
import { createTranslation, INSIDE, type TranslationStore } from '../translate/translation.svelte';
import { arithmetic, canScore } from './arithmetic';
import { attentionAt, isWhole, type Inside, type OpenedCell, type Sketch } from './numbers';
import { OwnTranslation } from './own-translation.svelte';
import { format, parse, sizesOf, trail, type Place, type Sizes } from './place';
import { Player } from './player.svelte';
import { createWeightChanges, type WeightChanges } from './weight-changes.svelte';
import { pictureWords } from './words';

const PAUSE = 150; // ms without another change before it is translated with them
const BEAM: Place = { stack: 'out', part: 'beam' };

interface Surroundings {
  urlState: UrlState;
  models: Models;
  translation: TranslationStore;
  weightChanges: WeightChanges;
}

/** State of one view, which ends with it. */
export class PictureState {
  readonly #surroundings!: Surroundings;
  readonly search!: OwnTranslation;
  readonly player: Player;
  #made = $state(''); // what was wanted of the result
  #outside: View = 'picture'; // where the beam search leads back to

  readonly isExperiment = $derived.by(() => this.#surroundings.urlState.view === 'intervene');
  readonly #text = $derived.by(() => {
    const { translation } = this.#surroundings;
    return translation.fresh ? translation.shown!.source : '';
  });
  readonly #wanted = $derived.by(() => {
    const { translation, weightChanges } = this.#surroundings;
    return [this.#text, JSON.stringify(translation.conditions), weightChanges.key].join('\n');
  });
  readonly isStale = $derived.by(() => !this.#surroundings.translation.fresh || this.#made !== this.#wanted);
  /** Null also for an emptied box: it asks for a sentence, and what was there before is no answer. */
  readonly result = $derived.by(() => {
    const { result } = this.search;
    const isEmpty = this.#surroundings.translation.source.trim() === '';
    return !isEmpty && isWhole(result) ? result : null;
  });
  readonly config = $derived.by(() => this.#surroundings.models.info?.config);
  /** Until the model has loaded, what is known of its ready-made translation. */
  readonly sketch = $derived.by((): Sketch | null => (this.config ? null : this.#surroundings.translation.shown));
  readonly drawn = $derived.by((): Inside | Sketch | null => this.result ?? this.sketch);
  readonly sizes = $derived.by((): Sizes => {
    if (this.config) return sizesOf(this.config);
    const maps = this.sketch?.attention;
    return {
      encoderLayers: maps?.encoder.layers ?? 1,
      decoderLayers: maps?.cross.layers ?? 1,
      heads: maps?.cross.heads ?? 1,
      norm: ready[this.#surroundings.models.model?.id ?? '']?.norm ?? 'post',
    };
  });
  readonly steps = $derived.by(() => this.drawn?.targetTokens.length ?? 1);

  readonly #address = $derived.by(() => this.#surroundings.urlState.parameters.at);
  readonly #isBeam = $derived.by(() => this.#surroundings.urlState.view === 'beam');
  /** Place that the address names, as far as the model has it. */
  readonly place = $derived.by((): Place => {
    if (!this.config) return {};
    return this.#isBeam ? BEAM : parse(this.#address, this.sizes);
  });
  readonly isScene = $derived.by(() => this.place.part !== undefined);
  readonly path = $derived.by(() => trail(this.place));
  /** Place that the words beside the picture describe: the box that computes, or while it plays the last of a new kind. */
  readonly shown = $derived.by(() => {
    const { playing, explained, now } = this.player;
    const box = playing ? (explained ?? now) : now;
    return box && !this.isScene ? box.place : this.place;
  });
  /** The rows of the decoder that are computed by now. */
  readonly known = $derived.by(() => {
    const row = this.place.stack === 'enc' ? 0 : (this.place.cell?.row ?? 0);
    return Math.max(this.player.at, row) + 1;
  });
  readonly token = $derived.by(() => this.result?.targetTokens[this.player.at]);
  readonly progress = $derived.by(() => {
    const { player, token, steps } = this;
    const step = player.at + 1;
    if (!token || player.status('chart') !== 'done') return pictureWords('choosing', { step, steps });
    return pictureWords('writes', { step, steps, piece: pieceName(token.piece) });
  });
  /** Facts about the model, its name first. */
  readonly facts = $derived.by((): string[] => {
    const { config } = this;
    const { model } = this.#surroundings.models;
    if (!config || !model) return [];
    const { encoder_layers: encoder, decoder_layers: decoder, num_heads: heads } = config;
    const { d_model: width, ffn_dim: inner } = config;
    return [
      titleOf(model),
      pictureWords('fact_layers', { encoder, decoder, heads }),
      pictureWords('fact_sizes', { width, head: config.key_dim || width / heads, inner }),
      pictureWords(`fact_${config.norm}`),
      config.residual ? '' : pictureWords('fact_noResidual'),
      config.positions === 'rotary' ? pictureWords('fact_rotary') : '',
      pictureWords(`fact_tied_${config.tie_embeddings}`),
    ].filter(Boolean);
  });
  readonly isScaled = $derived.by(() => this.config?.attention === 'scaled_dot');
  readonly isScored = $derived.by(() => canScore(this.config?.attention));
  readonly cell = $derived.by((): OpenedCell | null => {
    const { result, place, sizes } = this;
    const { cell, head, layer } = place;
    if (!result || !cell || !this.isScored) return null;
    const at = attentionAt(result, place);
    if (cell.row >= at.rows.length || cell.column >= at.columns.length) return null;
    const visible = at.kind === 'decoder' ? cell.row + 1 : at.columns.length;
    return {
      ...cell,
      sum: arithmetic(at.internals, sizes.heads, head!, cell.row, cell.column, visible, this.isScaled),
      weight: at.maps.map(layer!, head!)[cell.row * at.maps.columns + cell.column],
    };
  });

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
    this.search = new OwnTranslation(surroundings.models);
    this.player = new Player(
      () => this.sizes,
      () => this.steps,
    );
    $effect(() => this.#translate());
    $effect(() => this.#followStep());
    $effect(() => {
      const { view } = surroundings.urlState;
      if (view !== 'beam') this.#outside = view;
    });
    $effect(() => () => this.player.pause());
  }

  /** Opening a box is a step in the history, so that Back zooms out; going to the one beside it is not. */
  open(to: Place) {
    const { urlState } = this.#surroundings;
    const changes = { at: to.part === 'beam' ? null : format(to) || null };
    const isBeside = to.stack === this.place.stack && trail(to).length === this.path.length;
    if (isBeside) urlState.set(changes);
    else urlState.go(this.#viewOf(to), changes);
    if (to.part) this.player.pause();
  }

  #viewOf(to: Place): View {
    const { view } = this.#surroundings.urlState;
    if (to.part === 'beam') return 'beam';
    return view === 'beam' ? this.#outside : view;
  }

  show(step: number) {
    this.player.show(step);
    this.#surroundings.urlState.set({ step: String(step + 1) });
  }

  /** Translates the sentence again with the changes, and with all numbers inside the model. */
  #translate() {
    const { models, translation, weightChanges } = this.#surroundings;
    const text = this.#text;
    if (!text || !models.translator) return undefined;
    const wanted = this.#wanted; // the address also changes for other reasons
    const options = untrack(() => ({ ...INSIDE, ...weightChanges.options, ...translation.conditions }));
    const run = async () => {
      if (await this.search.run(text, options)) this.#made = wanted;
    };
    const timer = setTimeout(() => void run(), weightChanges.count > 0 ? PAUSE : 0);
    return () => clearTimeout(timer);
  }

  /** A link, or another translation, begins with the step in the address. */
  #followStep() {
    const { urlState } = this.#surroundings;
    void urlState.arrivals;
    if (!this.drawn) return;
    untrack(() => {
      const wanted = Number(urlState.parameters.step);
      const isStep = Number.isInteger(wanted) && wanted > 0;
      this.player.show(isStep ? Math.min(wanted, this.steps) - 1 : this.#lastWord(), false);
    });
  }

  /** At first the last word is shown: most maps are full by then. */
  #lastWord(): number {
    const isWord = ({ piece }: { piece: string }) => /\p{L}/u.test(piece) && piece !== END_PIECE;
    return Math.max(0, this.drawn!.targetTokens.findLastIndex(isWord));
  }
}

/** The state of a view that begins now. */
export const newPictureState = (stores: Stores) =>
  new PictureState({
    urlState: stores.get(createUrlState),
    models: stores.get(createModels),
    translation: stores.get(createTranslation),
    weightChanges: stores.get(createWeightChanges),
  });
