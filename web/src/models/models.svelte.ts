// The models: which there are, which one is in use, which one is on its way.
import { untrack } from 'svelte';
import { storedModels, Translator, WasmformerError, type ListedModel, type TranslatorInfo } from 'wasmformer';
import bundled from 'virtual:models';
import type { FolderSource, ImportOptions } from 'wasmformer/convert';
import { ownEncoders } from './encoder';
import { bareName, deleteFile, keepFile, keptFiles, notStored, readFile } from './files';
import {
  decoded,
  filesAt,
  folderName,
  isFolder,
  isFolderAddress,
  isList,
  languagesIn,
  type Dropped,
} from './folders';
import { createUrlState, NOT_OF_OTHERS, type UrlState } from '../shell/url-state.svelte';
import { PageError, reason } from '../shared/words/reason';
import { pageWords, type Problem } from '../shared/words/words';
import { languageName, megabytes, speech } from '../shared/words/speech.svelte';
import type { Stores } from '../shared/stores.svelte';

/** A model that comes with the page, from an address, or from a file. */
export interface Model {
  /** Name in links: 'de-en', an address, or 'file:NAME'. */
  id: string;
  origin: 'page' | 'address' | 'file';
  name: string;
  /** Source and target, 'de-en'; '' as long as that is not known. */
  languages: string;
  bytes: number;
}

const ownModels: Model[] = bundled.map(({ name, bytes }) => ({
  id: name,
  origin: 'page',
  name,
  languages: name,
  bytes,
}));
const ownAddress = (model: Model) => new URL(bundled.find(({ name }) => name === model.id)!.url, document.baseURI);

/** 'German → English' for 'de-en'. */
export const languageNames = (languages: string) =>
  languages.split('-').map(languageName).filter(Boolean).join(' → ');

const WORKER_LOST = ['worker-stopped', 'worker-ended', 'worker-script'];

/** Loads a file that does not translate as a model that classifies or tags; false where that fails. */
export type TakeEncoder = (file: File) => Promise<boolean>;

export class Models {
  readonly #urlState: UrlState;
  readonly #takeEncoder: TakeEncoder;
  /** In use; before one has loaded, the page's own that the link names, or the first. */
  model = $state.raw<Model | undefined>(ownModels[0]);
  loading = $state.raw<Model | null>(null);
  download = $state.raw<{ loaded: number; total: number } | null>(null);
  problem = $state.raw<Problem | null>(null);
  /** Worth a message, but not a failure. */
  notice = $state.raw<Problem | null>(null);
  translator = $state.raw<Translator | null>(null);
  /** The speed of the last translation. */
  tokensPerSecond = $state<number | null>(null);
  /** A link's model on another host, which is fetched only when the visitor agrees. */
  asked = $state.raw<Model | null>(null);
  /** Source of the translator, for training it further. */
  from: URL | Blob | null = null;
  kept = $state.raw<Model[]>([]);
  /** The list of models that was opened last. */
  listed = $state.raw<{ source: URL | File; name: string; models: ListedModel[] } | null>(null);

  /** The weights of converted folders: as int8, or unchanged. */
  precision = $state<'int8' | 'f32'>('int8');

  readonly all = $derived.by(() => {
    const known = [...ownModels, ...this.kept];
    return this.model && !known.some(({ id }) => id === this.model!.id) ? [...known, this.model] : known;
  });
  /** The page's own, with their addresses. */
  readonly own = ownModels.map((model) => ({ ...model, url: ownAddress(model).href }));
  /** The pairs of languages that the page's own models translate. */
  readonly pairs = ownModels.map(({ languages }) => languages.split('-') as [string, string]);
  readonly info = $derived<TranslatorInfo | null>(this.translator?.info ?? null);
  readonly #languages = $derived((this.info?.languages || this.model?.languages || '').split('-'));
  readonly sourceCode = $derived<string | undefined>(this.#languages[0]);
  readonly targetCode = $derived<string | undefined>(this.#languages[1]);
  readonly sourceLanguage = $derived(languageName(this.sourceCode) || pageWords('source'));
  readonly targetLanguage = $derived(languageName(this.targetCode) || pageWords('target'));

  #first: Model | undefined;
  #attempt: AbortController | null = null;
  #loadedAt = 0;
  #again: () => Promise<void> = async () => {};

  constructor(urlState: UrlState, takeEncoder: TakeEncoder) {
    this.#urlState = urlState;
    this.#takeEncoder = takeEncoder;
  }

  /** To be called once the link and the language have been read. */
  expect() {
    const own = (wanted: string | undefined) => ownModels.find(({ id }) => id === wanted);
    const { model, text } = this.#urlState.parameters;
    // A visitor who reads Chinese begins with it, unless a link brings a text of another language.
    this.#first = (speech.locale === 'zh' && text === undefined ? own('en-zh') : undefined) ?? ownModels[0];
    this.model = own(model) ?? this.#first;
  }

  /** Loads the link's model, or the first. */
  async start() {
    const wanted = this.#urlState.parameters.model;
    if (wanted !== undefined) await this.#follow(wanted);
    else if (this.#first) await this.load(this.#first);
    await this.list();
    $effect.root(() => {
      $effect(() => {
        const { model } = this.#urlState.parameters;
        const isComing = untrack(() => this.loading?.id === model);
        if (this.#urlState.arrivals > 0 && model !== undefined && model !== this.model?.id && !isComing)
          void this.#follow(model);
      });
    });
  }

  /**
   * Loads a link's model. One on another host is asked about first; where it fails, the first model takes its
   * place.
   */
  async #follow(id: string) {
    const address = addressOf(id);
    if (
      address
      && address.origin !== location.origin
      && !(await storedModels.list()).some(({ url }) => url === address.href)
    ) {
      this.asked = fromAddress(address.href, 0);
    } else await this.loadNamed(id);
    if (this.translator || !this.#first || this.problem?.key === 'cancelled') return;
    const [problem, again] = [this.problem, this.#again];
    await this.load(this.#first);
    if (problem?.key !== 'loadFailed' || this.problem) return;
    this.problem = { ...problem, key: 'linkFailed' };
    this.#again = again;
  }

  /** The page's own model between two languages, if there is one. */
  between(source: string | undefined, target: string | undefined): Model | undefined {
    return ownModels.find(({ languages }) => languages === `${source}-${target}`);
  }

  /** The page's own model from a language: to the first of these that there is one for, or to any. */
  startingWith(source: string, ...targets: (string | undefined)[]): Model | undefined {
    const wanted = targets.map((target) => this.between(source, target)).find((model) => model);
    return wanted ?? ownModels.find(({ languages }) => languages.startsWith(`${source}-`));
  }

  agree() {
    const { asked } = this;
    this.asked = null;
    if (asked) void this.loadNamed(asked.id);
  }

  async list() {
    const own = [...this.own, ...ownEncoders].map(({ url }) => url);
    const [addresses, files] = await Promise.all([storedModels.list(), keptFiles()]);
    this.kept = [
      ...addresses.filter(({ url }) => !own.includes(url)).map(({ url, bytes }) => fromAddress(url, bytes)),
      ...files.map((file): Model => ({ ...file, id: `file:${file.name}`, origin: 'file' })),
    ];
  }

  /** Loads what a link calls `id`; the first model where that cannot be. */
  async loadNamed(id: string) {
    this.asked = null;
    const address = addressOf(id);
    if (id.startsWith('file:')) await this.list();
    const model = address ? fromAddress(address.href, 0) : this.all.find((known) => known.id === id);
    if (model) return this.load(model);
    if (!this.translator && this.#first) await this.load(this.#first);
    this.notice = { key: 'modelMissing', reason: id.replace(/^file:/, '') };
  }

  /** Loads a model that was dropped or picked, and keeps it if it is one; also a folder of MarianMT or of Marian. */
  loadFiles({ files, folder }: Dropped): Promise<void> {
    if (files.length === 1 && isList(files[0]!.name)) return this.#openList(files[0]!, files[0]!.name);
    if (isFolder({ files, folder })) return this.#loadFolder(files, folder || 'Marian');
    return this.loadFile(files[0]!);
  }

  loadFile(file: File): Promise<void> {
    return this.load(fromFile(file.name, file.size), async () => file);
  }

  /** Loads a model from its address, or from that of a folder of MarianMT; that of a list is opened. */
  async loadAddress(text: string) {
    const typed = addressOf(text);
    if (!typed) return void (this.problem = { key: 'badAddress' });
    const address = filesAt(typed);
    if (isList(address.pathname)) return this.#openList(address, address.host);
    return isFolderAddress(address) ? this.#loadFolder(address, folderName(address)) : this.loadNamed(address.href);
  }

  async #openList(source: URL | File, name: string) {
    this.#again = () => this.#openList(source, name);
    this.problem = this.notice = null;
    try {
      const { listModels } = await import('wasmformer/convert');
      this.listed = { source, name, models: await listModels(source) };
      location.hash = this.#urlState.to('models');
    } catch (error) {
      this.problem = { key: 'listFailed', reason: reason(error) };
    }
  }

  /** Loads a model of the list, and keeps it. */
  loadListed({ from, to, architecture, bytes }: ListedModel): Promise<void> {
    const name = ['firefox', architecture, `${from}-${to}`].filter(Boolean).join('-');
    return this.#loadFolder({ list: this.listed!.source, from, to, architecture }, name, bytes);
  }

  #loadFolder(folder: FolderSource, name: string, bytes = 0): Promise<void> {
    const file = `${name}.safetensors`;
    const { precision } = this;
    return this.load(fromFile(file, bytes), async (options) => {
      const { importMarian } = await import('wasmformer/convert');
      return new File([await importMarian(folder, { ...options, precision, languages: languagesIn(name) })], file);
    });
  }

  /** The model in use stays in use until the other one is there. `make` gives its file, where it has no place yet. */
  async load(model: Model, make?: (options: ImportOptions) => Promise<File>) {
    this.#attempt?.abort();
    const attempt = (this.#attempt = new AbortController());
    this.#again = () => this.load(model, make);
    this.problem = this.notice = null;
    this.loading = model;
    this.download = { loaded: 0, total: model.bytes };
    let file: File | undefined;
    try {
      const options = {
        signal: attempt.signal,
        onProgress: (loaded: number, total?: number) => {
          if (attempt === this.#attempt) this.download = { loaded, total: total ?? model.bytes };
        },
      };
      file = await make?.(options);
      const source = file ?? (await this.#source(model));
      const translator = await Translator.load(source, options);
      if (attempt !== this.#attempt) return translator.dispose(); // another model was chosen meanwhile
      this.#use(model, translator, source);
      if (model.origin !== 'page') await this.#keep(this.model!, file);
      if (attempt === this.#attempt && !this.asked)
        this.#urlState.set({ model: model === ownModels[0] ? null : this.model!.id });
    } catch (error) {
      if (attempt === this.#attempt) await this.#refused(attempt, file, error);
    } finally {
      if (attempt === this.#attempt) this.download = this.loading = null;
    }
  }

  /** Puts a model that has loaded in the place of the one in use. */
  #use(model: Model, translator: Translator, source: URL | Blob) {
    // Token ids in a link belong to the model in the link.
    if (model.id !== (this.#urlState.parameters.model ?? ownModels[0]?.id) && !this.asked)
      this.#urlState.set(NOT_OF_OTHERS);
    this.translator?.dispose();
    const { languages, bytes } = translator.info;
    this.model = { ...model, languages: languages || model.languages, bytes };
    this.translator = translator;
    this.#loadedAt = performance.now();
    this.from = source;
  }

  /** Says why a model could not be loaded, unless its file is one that classifies or tags. */
  async #refused(attempt: AbortController, file: File | undefined, error: unknown) {
    if (file && error instanceof WasmformerError && error.code === 'wrong-task') {
      const isTaken = await this.#takeEncoder(file);
      if (attempt !== this.#attempt) return;
      if (isTaken) return void (location.hash = this.#urlState.to('classify'));
    }
    this.problem = attempt.signal.aborted ? { key: 'cancelled' } : { key: 'loadFailed', reason: reason(error) };
  }

  /**
   * Why a translation failed. A worker that the browser has ended is replaced, unless it has ended too soon after
   * loading.
   */
  failed(error: unknown): Problem {
    const why = reason(error);
    const isLost = WORKER_LOST.includes(why.code) && performance.now() > this.#loadedAt + 5000;
    if (isLost && this.model && !this.loading) void this.load(this.model);
    return { key: 'translateFailed', reason: why };
  }

  retry() {
    void this.#again();
  }

  dismiss() {
    this.problem = this.notice = this.asked = null;
  }

  cancel() {
    this.#attempt?.abort();
  }

  /** Frees its storage; if it is in use, it stays so until the page is left. */
  async delete(model: Model) {
    if (model.origin === 'file') await deleteFile(model.name);
    else await storedModels.delete(model.id);
    await this.list();
  }

  async #source(model: Model): Promise<URL | Blob> {
    if (model.origin === 'page') return ownAddress(model);
    if (model.origin === 'address') return new URL(model.id);
    const kept = await readFile(model.name);
    if (!kept) throw notStored(model.name);
    return kept;
  }

  async #keep(model: Model, file: File | undefined) {
    try {
      const name = file ? await keepFile(file, model.languages) : model.name;
      const id = name === model.name ? model.id : `file:${name}`;
      if (this.model === model) this.model = { ...model, id, name }; // the visitor may have chosen another meanwhile
      await this.list();
      if (!this.kept.some((kept) => kept.id === id)) throw new PageError('storage-refused', 'the browser refused to store it');
    } catch (error) {
      this.notice = { key: 'notKept', reason: reason(error) };
    }
  }
}

/** Name of a model on the page: its languages if it comes with the page, else its own name. */
export const titleOf = ({ origin, languages, name }: Model) =>
  (origin === 'page' && languageNames(languages)) || bareName(name);

/** Its languages, where the title does not say them, and its size. */
export function factsOf(model: Model): string[] {
  return [
    model.origin === 'page' ? '' : languageNames(model.languages),
    model.bytes ? megabytes(model.bytes) : '',
  ].filter(Boolean);
}

const fromFile = (name: string, bytes: number): Model => ({
  id: `file:${name}`,
  origin: 'file',
  name,
  languages: '',
  bytes,
});

function fromAddress(url: string, bytes: number): Model {
  const { href, host, pathname } = new URL(url);
  return {
    id: href,
    origin: 'address',
    name: `${decoded(pathname.split('/').at(-1)!)} (${host})`,
    languages: '',
    bytes,
  };
}

/** The address that a text is, if the page may fetch from it: its security policy allows https and its own host. */
function addressOf(text: string): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url && (url.protocol === 'https:' || (/^https?:$/.test(url.protocol) && url.origin === location.origin))
    ? url
    : null;
}

export const createModels = (stores: Stores) =>
  new Models(stores.get(createUrlState), async (file) => {
    const { createEncoders } = await import('./encoders.svelte');
    return stores.get(createEncoders).take(file);
  });
