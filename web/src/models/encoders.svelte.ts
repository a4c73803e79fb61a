// The models that classify and tag: those of the page, those that are kept in this browser, and the one in use.
import { Classifier, type Tagger, type AnnotateOptions, type Annotation } from 'wasmformer';
import { loadEncoder, ownEncoders } from './encoder';
import { deleteFile, keepFile, keptFiles, notStored, readFile } from './files';
import { createUrlState, type UrlState } from '../shell/url-state.svelte';
import { reason, type Reason } from '../shared/words/reason';
import { speech } from '../shared/words/speech.svelte';
import type { Stores } from '../shared/stores.svelte';

export interface Encoder {
  /** Name in links: 'snips' or 'file:NAME'. */
  id: string;
  name: string;
  /** Address, if it comes with the page. */
  url?: string;
}

const own = ownEncoders.map(({ name, url }): Encoder => ({ id: name, name, url }));
/** Default encoder, in the visitor's language. */
const first = () => own.find(({ id }) => id === (speech.locale === 'zh' ? 'csl' : 'snips')) ?? own[0];

export class Encoders {
  readonly #urlState: UrlState;
  /** In use; before one has loaded, the first. */
  model = $state.raw<Encoder>(first());
  /** A classifier also tags, if it can. */
  #instance = $state.raw<Classifier | Tagger | null>(null);
  readonly info = $derived(this.#instance?.info ?? null);
  kept = $state.raw<Encoder[]>([]);
  readonly all = $derived.by(() => {
    const known = [...own, ...this.kept];
    return known.some(({ id }) => id === this.model.id) ? known : [...known, this.model];
  });
  busy = $state(false);
  problem = $state.raw<Reason | ''>('');
  /** Why the browser does not keep the model in use. */
  unkept = $state.raw<Reason | ''>('');
  #last = 0;

  constructor(urlState: UrlState) {
    this.#urlState = urlState;
  }

  /** Loads what the link names, or else the first; nothing where that is there already. */
  async follow() {
    this.problem = ''; // of a file that another view gave it
    const before = this.#last;
    await this.list();
    if (before !== this.#last) return; // the visitor has chosen one meanwhile
    const wanted = this.all.find(({ id }) => id === this.#urlState.parameters.encoder) ?? this.model;
    if (wanted.id !== this.model.id || !this.#instance) await this.load(wanted);
  }

  async list() {
    const files = await keptFiles('encoder');
    this.kept = files.map(({ name }) => ({ id: `file:${name}`, name }));
  }

  /** The one in use stays so if this cannot be loaded. */
  async load(model: Encoder, file?: File): Promise<boolean> {
    const attempt = ++this.#last;
    this.busy = true;
    this.problem = this.unkept = '';
    try {
      const source = file ?? model.url ?? (await readFile(model.name));
      if (!source) throw notStored(model.name);
      const instance = await loadEncoder(source);
      if (attempt !== this.#last) {
        instance.dispose();
        return false;
      }
      const before = this.#instance;
      this.#instance = instance;
      before?.dispose(); // now that no view asks it any more
      this.model = model;
      if (file) await this.#keep(file);
      if (attempt === this.#last) this.#urlState.set({ encoder: this.model.id });
    } catch (error) {
      if (attempt === this.#last) this.problem = reason(error);
    } finally {
      if (attempt === this.#last) this.busy = false;
    }
    return attempt === this.#last && this.problem === '';
  }

  take(file: File) {
    return this.load({ id: `file:${file.name}`, name: file.name }, file);
  }

  async #keep(file: File) {
    const { model } = this;
    try {
      const name = await keepFile(file, '', 'encoder');
      if (model === this.model) this.model = { id: `file:${name}`, name };
      await this.list();
    } catch (error) {
      if (model === this.model) this.unkept = reason(error);
    }
  }

  async delete() {
    await deleteFile(this.model.name);
    await this.list();
    await this.load(first());
  }

  /** The file of the model in use. */
  async file(): Promise<Blob> {
    const { url, name } = this.model;
    return url ? (await fetch(url)).blob() : (await readFile(name))!;
  }

  annotate(texts: readonly string[], options?: AnnotateOptions): Promise<Annotation[]> {
    const instance = this.#instance!;
    return instance instanceof Classifier ? instance.classify(texts, options) : instance.tag(texts, options);
  }
}

export const createEncoders = (stores: Stores) => new Encoders(stores.get(createUrlState));
