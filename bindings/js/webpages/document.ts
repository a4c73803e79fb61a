// Translates live pages in place, visible parts first; elements keep their state and listeners.
import { boolean, checked, signal as signalRule } from '../shared/checks.js';
import { WasmformerTypeError } from '../shared/errors.js';
import type { DocumentOptions, DocumentTranslation, PageNode, SentenceTranslator } from '../shared/webpage-types.js';
import { inline, isTranslatable, kept, InlineRun, single, type Item, type Piece } from './inline-run.js';
import { translateRuns } from './markup.js';

/** Nodes side by side that are one run of text, as they were when it was taken. */
interface Place {
  parent: ParentNode & Node;
  nodes: ChildNode[];
  run: InlineRun<ChildNode>;
  texts: Map<Text, string>;
}

/** How to restore a place. */
interface Change extends Place {
  /** The children of each element in it. */
  children: Map<Element, ChildNode[]>;
  created: ChildNode[];
}

const isElement = (node: Node): node is Element => node.nodeType === 1;
const isText = (node: Node): node is Text => node.nodeType === 3;

function isKept(element: Element): boolean {
  return kept.has(element.localName) || element.getAttribute('translate') === 'no' || element.classList.contains('notranslate')
    || (element as HTMLElement).isContentEditable;
}

/** Translates `root` until it is told to stop. */
class LivePage {
  readonly finished: Promise<void>;
  #translator: SentenceTranslator;
  #signal: AbortSignal | undefined;
  #stop = new AbortController();
  #queue: Place[] = [];
  #changes: Change[] = [];
  /** Above this many changes, those that can no longer be undone are forgotten. */
  #mostChanges = 64;
  #undone = new DOMException('the translation was undone', 'AbortError');
  /** Text last written to each node, to tell it from text that the page writes. */
  #written = new WeakMap<Text, string>();
  #mutations: MutationObserver | undefined;
  #visible = new Set<Node>();
  #views: IntersectionObserver | undefined;
  #work: Promise<void> | undefined;
  #root: Node;

  constructor(translator: SentenceTranslator, root: Node, { observe, signal }: DocumentOptions) {
    this.#translator = translator;
    this.#root = root;
    this.#signal = signal;
    signal?.addEventListener('abort', () => this.#end(signal.reason), { once: true, signal: this.#stop.signal });
    if (signal?.aborted) this.#end(signal.reason);
    const known = this.#watchViews();
    this.#add(root);
    if (observe && !signal?.aborted) {
      this.#mutations = new MutationObserver((records) => this.#follow(records));
      this.#mutations.observe(root, { childList: true, characterData: true, subtree: true });
    }
    this.finished = this.#work = known.then(() => this.#drain());
    this.finished.catch(() => {}); // no unhandled rejection if nobody awaits it
    if (!observe) void this.finished.then(() => this.#end(undefined), () => {});
  }

  undo(): void {
    this.#end(this.#undone);
    for (const change of this.#changes.reverse()) this.#restore(change);
    this.#changes = [];
  }

  #end(reason: unknown): void {
    this.#stop.abort(reason);
    this.#mutations?.disconnect();
    this.#views?.disconnect();
    this.#queue = [];
  }

  /** Resolves when it is known what is visible, or the browser does not draw the page now. */
  #watchViews(): Promise<void> {
    if (this.#stop.signal.aborted || !('IntersectionObserver' in globalThis)) return Promise.resolve();
    return new Promise((resolve) => {
      this.#views = new IntersectionObserver((entries) => {
        for (const { target, isIntersecting } of entries) this.#visible[isIntersecting ? 'add' : 'delete'](target);
        resolve();
      });
      setTimeout(resolve, document.hidden ? 200 : 1500); // a busy browser may draw late
    });
  }

  #add(root: Node): void {
    const isOver = this.#stop.signal.aborted || (isElement(root) && isKept(root));
    const places = isOver ? [] : this.#placesIn(root as ParentNode & Node);
    this.#queue = [...this.#queue.filter(({ parent }) => !root.contains(parent)), ...places];
    for (const { parent } of places) if (isElement(parent)) this.#views?.observe(parent);
  }

  #isInline(node: ChildNode): boolean {
    if (isText(node)) return node.data === '' || this.#written.get(node) !== node.data;
    if (!isElement(node)) return true;
    return inline.has(node.localName) && (isKept(node) || [...node.childNodes].every((child) => this.#isInline(child)));
  }

  #placesIn(parent: ParentNode & Node): Place[] {
    const places: Place[] = [];
    let nodes: ChildNode[] = [];
    const flush = () => {
      const texts = new Map<Text, string>();
      const run = new InlineRun(nodes.flatMap((node) => itemsOf(node, texts)));
      if (isTranslatable(run.text)) places.push({ parent, nodes, run, texts });
      nodes = [];
    };
    for (const child of parent.childNodes) {
      if (this.#isInline(child)) {
        nodes.push(child);
        continue;
      }
      flush();
      if (isElement(child) && !isKept(child)) places.push(...this.#placesIn(child));
    }
    flush();
    return places;
  }

  async #drain(): Promise<void> {
    try {
      while (this.#queue.length > 0) {
        const isVisible = ({ parent }: Place) => this.#visible.has(parent);
        const batch = (this.#queue.some(isVisible) ? this.#queue.filter(isVisible) : this.#queue).slice(0, 8);
        this.#queue = this.#queue.filter((place) => !batch.includes(place));
        const fresh = batch.filter((place) => this.#isUnchanged(place));
        const options = { signal: this.#stop.signal };
        const take = (pieces: Piece<ChildNode>[], i: number) => this.#replace(fresh[i]!, pieces);
        await translateRuns(fresh.map(({ run }) => run), this.#translator, options, take);
      }
      this.#stop.signal.throwIfAborted();
    } catch (error) {
      this.#end(error);
      throw error;
    } finally {
      this.#work = undefined;
    }
  }

  /** The page has changed something. */
  #follow(records: MutationRecord[]): void {
    const roots = new Set<Node>();
    for (const { target } of records) {
      let root = target;
      const isInner = (node: Node) => !isElement(node) || inline.has(node.localName);
      while (root !== this.#root && root.parentNode && isInner(root)) root = root.parentNode;
      if (this.#root.contains(root) && !this.#isInKept(root)) roots.add(root);
    }
    for (const root of roots) this.#add(root);
    if (!this.#work && this.#queue.length > 0) {
      this.#work = this.#drain();
      this.#work.catch((error: unknown) => {
        if (error !== this.#undone && error !== this.#signal?.reason) reportError(error);
      });
    }
  }

  /** Changes the page without taking that for a change made by the page itself. */
  #quietly(change: () => void): void {
    const records = this.#mutations?.takeRecords() ?? [];
    change();
    this.#mutations?.takeRecords();
    if (records.length > 0) this.#follow(records);
  }

  #replace(place: Place, pieces: Piece<ChildNode>[]): void {
    if (this.#stop.signal.aborted || !this.#isUnchanged(place)) return;
    this.#quietly(() => {
      const elements = pieces.flatMap((piece) =>
        (piece.kind === 'open' && isElement(piece.handle) ? [piece.handle] : []));
      const children = new Map(elements.map((element) => [element, [...element.childNodes]]));
      const change: Change = { ...place, children, created: [] };
      this.#arrange(change, pieces);
      this.#changes.push(change);
      if (this.#changes.length < this.#mostChanges) return;
      const isThere = ({ nodes }: Change) => !nodes.every((node) => this.#isGone(node));
      this.#changes = this.#changes.filter((one) => this.#isOurs(one) && isThere(one));
      this.#mostChanges = Math.max(64, 2 * this.#changes.length);
    });
  }

  /** Moves what is not yet in its place; texts are used again, since frameworks hold on to them. */
  #arrange({ parent, nodes, texts, created }: Change, pieces: Piece<ChildNode>[]): void {
    const free = [...texts.keys()];
    const homes = new Map(free.map((text) => [text, text.parentNode]));
    const stack: { into: Node; last: ChildNode | null }[] = [{ into: parent, last: nodes[0]!.previousSibling }];
    const put = (node: ChildNode) => {
      const level = stack.at(-1)!;
      const next = level.last ? level.last.nextSibling : level.into.firstChild;
      if (next !== node) level.into.insertBefore(node, next);
      level.last = node;
    };
    const create = <T extends ChildNode>(node: T): T => {
      created.push(node);
      return node;
    };
    for (const piece of pieces) {
      if (piece.kind === 'close') stack.pop();
      else if (piece.kind === 'atom') put(piece.handle);
      else if (piece.kind === 'open') {
        const node = piece.isCopy ? create(piece.handle.cloneNode(false) as ChildNode) : piece.handle;
        put(node);
        stack.push({ into: node, last: null });
      } else {
        const { into } = stack.at(-1)!;
        const at = free.findIndex((text) => homes.get(text) === into);
        const text = at < 0 ? create(document.createTextNode('')) : free.splice(at, 1)[0]!;
        this.#write(text, piece.text);
        put(text);
      }
    }
    for (const text of free) this.#write(text, '');
  }

  #write(text: Text, data: string): void {
    text.data = data;
    this.#written.set(text, data);
  }

  /** Returns whether the page has left the texts as they were written. */
  #isOurs({ texts, created }: Change): boolean {
    return [...texts.keys(), ...created].every((node) => !isText(node) || this.#written.get(node) === node.data);
  }

  /** Returns whether the page has left the place as it was when it was queued. */
  #isUnchanged({ parent, nodes, texts }: Place): boolean {
    return nodes.every((node) => node.parentNode === parent)
      && [...texts].every(([text, data]) => text.data === data && parent.contains(text) && !this.#isGone(text));
  }

  /** Returns whether the node was removed from the page. Nodes may also be translated before they are added. */
  #isGone(node: Node): boolean {
    return this.#root.isConnected && !node.isConnected;
  }

  #isInKept(node: Node): boolean {
    if (isElement(node) && isKept(node)) return true;
    return node !== this.#root && node.parentNode !== null && this.#isInKept(node.parentNode);
  }

  #restore(change: Change): void {
    const { parent, nodes, texts, children, created } = change;
    if (!nodes.every((node) => node.parentNode === parent) || !this.#isOurs(change)) return;
    const marker = parent.insertBefore(document.createComment(''), nodes.reduce((first, node) =>
      (first.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_PRECEDING ? node : first)));
    for (const node of created) node.remove();
    for (const node of nodes) parent.insertBefore(node, marker);
    marker.remove();
    for (const [element, before] of children) element.replaceChildren(...before);
    for (const [text, data] of texts) {
      text.data = data;
      this.#written.delete(text);
    }
  }
}

function itemsOf(node: ChildNode, texts: Map<Text, string>): Item<ChildNode>[] {
  if (isText(node)) {
    texts.set(node, node.data);
    return [{ kind: 'text', text: node.data }];
  }
  if (!isElement(node) || isKept(node) || node.childNodes.length === 0) {
    return [{ kind: 'atom', handle: node, isSeen: isElement(node) && node.localName !== 'wbr' }];
  }
  const isSingle = single.has(node.localName) || node.id !== '' || node.localName.includes('-');
  const inside = [...node.childNodes].flatMap((child) => itemsOf(child, texts));
  return [{ kind: 'open', handle: node, isSingle }, ...inside, { kind: 'close' }];
}

const rules = { observe: boolean, signal: signalRule };

/**
 * Translates a live page, or a part of it, in place: what is visible first. Elements keep their state and listeners;
 * code, forms' contents, `translate="no"` and what can be edited stay as they are.
 * @throws when `node` is not part of a page, or an option is unknown or impossible
 * @example
 * const page = translateDocument(await Translator.load('models/de-en.safetensors'), document, { observe: true });
 * await page.finished;
 * page.undo(); // the original again
 */
export function translateDocument(
  translator: SentenceTranslator, node: PageNode, options: DocumentOptions = {},
): DocumentTranslation {
  const given = checked<DocumentOptions>('document', rules, options);
  if (!(node instanceof Node) || ![1, 9, 11].includes(node.nodeType)) {
    throw new WasmformerTypeError('document', 'node must be a document, a fragment or an element');
  }
  return new LivePage(translator, node instanceof Document ? node.documentElement : node, given);
}
