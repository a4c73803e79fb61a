// Translates live pages in place, visible parts first; elements keep their state and listeners.
import { boolean, checked, signal as signalRule } from '../shared/checks.js';
import { WasmformerTypeError } from '../shared/errors.js';
import type { DocumentOptions, DocumentTranslation, PageNode, SentenceTranslator } from '../shared/webpage-types.js';
import { byLanguage, detectorRule } from './by-language.js';
import { inline, isTranslatable, kept, InlineRun, saysTranslate, scripts, single, type Item, type Piece } from './inline-run.js';
import { translateRuns } from './markup.js';

/** Nodes side by side that are one run of text, as they were when it was taken. */
interface Place {
  parent: ParentNode & Node;
  nodes: ChildNode[];
  run: InlineRun<ChildNode>;
  texts: Map<Text, string>;
}

/** Record of a change, from which the place is restored. */
interface Change extends Place {
  /** The children of each element in it, as they were, and of the place itself. */
  children: Map<Node, ChildNode[]>;
  created: ChildNode[];
  /** Position where each of the page's own nodes was put: the page has moved those that are elsewhere now. */
  homes: Map<Node, Node | null>;
}

const isElement = (node: Node): node is Element => node.nodeType === 1;
const isText = (node: Node): node is Text => node.nodeType === 3;

const saysOf = (element: Element) => saysTranslate(element.getAttribute('translate'));

/** Returns whether everything in the element is kept, whatever `translate` says inside it. */
const isKeptWhole = (element: Element) => kept.has(element.localName) || element.classList.contains('notranslate')
  || (element as HTMLElement).isContentEditable;

const isKept = (element: Element) => isKeptWhole(element) || saysOf(element) === false;

/** Translates `root` until it is told to stop. */
class LivePage {
  readonly finished: Promise<void>;
  #translator: SentenceTranslator;
  #signal: AbortSignal | undefined;
  #stop = new AbortController();
  #queue: Place[] = [];
  #changes = new Set<Change>();
  /** The change that each node belongs to, the page's own or created. */
  #changeOf = new WeakMap<Node, Change>();
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
    for (const change of [...this.#changes].reverse()) this.#restore(change);
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
    if (this.#stop.signal.aborted) return;
    const parent = root as ParentNode & Node;
    const inside = [...parent.querySelectorAll('[translate]')].filter((element) => this.#isTranslatedInKept(element));
    const parents = this.#isInKept(root) ? inside : [parent, ...inside];
    const places = parents.flatMap((parent) => this.#placesIn(parent));
    this.#queue = [...this.#queue.filter(({ parent }) => !root.contains(parent)), ...places];
    for (const { parent } of places) if (isElement(parent)) this.#views?.observe(parent);
  }

  #isInline(node: ChildNode): boolean {
    if (isText(node)) return this.#written.get(node) !== node.data;
    if (!isElement(node)) return true;
    return inline.has(node.localName) && (isKept(node) || [...node.childNodes].every((child) => this.#isInline(child)));
  }

  #placesIn(parent: ParentNode & Node): Place[] {
    const places: Place[] = [];
    let nodes: ChildNode[] = [];
    const flush = () => {
      const texts = new Map<Text, string>();
      const run = new InlineRun(nodes.flatMap((node) => itemsOf(node, texts)));
      // The texts of what moves as a whole stay as they are.
      const whole = run.marks.filter(({ isAtom, handle }) => isAtom && isElement(handle));
      for (const text of texts.keys()) if (whole.some(({ handle }) => handle.contains(text))) texts.delete(text);
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
    const targets = [...records.map(({ target }) => target), ...this.#takeBack(records)];
    const roots = new Set<Node>();
    for (const target of targets) {
      let root = target;
      const isInner = (node: Node) => !isElement(node) || inline.has(node.localName);
      while (root !== this.#root && root.parentNode && isInner(root)) root = root.parentNode;
      if (this.#root.contains(root)) roots.add(root);
    }
    for (const root of roots) this.#add(root);
    if (!this.#work && this.#queue.length > 0) {
      this.#work = this.#drain();
      this.#work.catch((error: unknown) => {
        if (error !== this.#undone && error !== this.#signal?.reason) reportError(error);
      });
    }
  }

  /**
   * If the page has changed or moved a node in a place, or inserted one before it, restores the page's own nodes there.
   * Returns the parents of these places.
   */
  #takeBack(records: MutationRecord[]): Node[] {
    const moved = new Set<Node>(records.flatMap(({ removedNodes }) => [...removedNodes]));
    const rewritten = records.flatMap(({ type, target }) =>
      (type === 'characterData' && isText(target) && this.#written.get(target) !== target.data ? target : []));
    const before = records.flatMap(({ addedNodes, nextSibling, target }) => {
      if (!nextSibling || !this.#changeOf.has(nextSibling) || moved.has(nextSibling)) return [];
      const added = [...addedNodes].filter(({ parentNode }) => parentNode === target);
      return added.map((node) => ({ node, next: nextSibling }));
    });
    const nodes = [...rewritten, ...moved, ...before.map(({ next }) => next)];
    const touched = new Set(nodes.flatMap((node) => this.#changeOf.get(node) ?? []));
    if (touched.size > 0) this.#quietly(() => {
      for (const change of touched) {
        change.created = change.created.filter((node) => !rewritten.includes(node as Text)); // the page's own from now on
        this.#restore(change, moved);
      }
      for (const { node, next } of before) next.parentNode?.insertBefore(node, next); // no parent: it was created
    });
    return [...touched].map(({ parent }) => parent);
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
      const children = new Map<Node, ChildNode[]>([
        [place.parent, place.nodes],
        ...elements.map((element): [Node, ChildNode[]] => [element, [...element.childNodes]]),
      ]);
      const change: Change = { ...place, children, created: [], homes: new Map() };
      this.#arrange(change, pieces);
      for (const node of [...children.values()].flat()) change.homes.set(node, node.parentNode);
      for (const node of [...change.homes.keys(), ...change.created]) this.#changeOf.set(node, change);
      this.#changes.add(change);
      this.#forget();
    });
  }

  /** Drops changes of places that are gone, so that their nodes are not kept in memory. */
  #forget(): void {
    if (this.#changes.size < this.#mostChanges) return;
    for (const change of this.#changes) {
      if (change.nodes.every((node) => this.#isGone(node))) this.#changes.delete(change);
    }
    this.#mostChanges = Math.max(64, 2 * this.#changes.size);
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
    let says: boolean | undefined; // the innermost counts
    for (let at: Node | null = node; at; at = at === this.#root ? null : at.parentNode) {
      if (!isElement(at)) continue;
      if (isKeptWhole(at)) return true;
      says ??= saysOf(at);
    }
    return says === false;
  }

  #isTranslatedInKept(element: Element): boolean {
    if (element === this.#root || !saysOf(element)) return false;
    return !this.#isInKept(element) && this.#isInKept(element.parentNode!);
  }

  /** Gives the page its own nodes and texts; what it has changed or moved meanwhile, such as `moved`, stays so. */
  #restore(change: Change, moved: ReadonlySet<Node> = new Set()): void {
    const { texts, children, created, homes } = change;
    for (const [parent, before] of children) {
      bringBack(before.filter((node) => !moved.has(node) && node.parentNode === homes.get(node)), parent);
    }
    // From the inside; what the page has put into them stays.
    for (const node of created.reverse()) node.replaceWith(...node.childNodes);
    for (const [text, data] of texts) {
      if (this.#written.get(text) === text.data) text.data = data;
      this.#written.delete(text);
    }
    for (const node of [...homes.keys(), ...created]) this.#changeOf.delete(node);
    this.#changes.delete(change);
  }
}

/** Puts nodes into their order below `parent`; what stands between them may stay there. */
function bringBack(nodes: readonly ChildNode[], parent: Node): void {
  let last: ChildNode | undefined;
  for (const node of nodes) {
    const isBehind = !last || last.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING;
    if (node.parentNode !== parent || !isBehind) parent.insertBefore(node, last ? last.nextSibling : parent.firstChild);
    last = node;
  }
}

/** White space of a text that the page's styles keep. */
function keptSpace({ parentElement }: Text): 'lines' | 'all' | undefined {
  const style = parentElement ? getComputedStyle(parentElement).whiteSpace : '';
  if (style.startsWith('pre-line')) return 'lines';
  return /^(pre|break-spaces)/.test(style) ? 'all' : undefined;
}

function itemsOf(node: ChildNode, texts: Map<Text, string>): Item<ChildNode>[] {
  if (isText(node)) {
    texts.set(node, node.data);
    return [{ kind: 'text', text: node.data, keeps: keptSpace(node) }];
  }
  if (!isElement(node) || isKept(node) || node.childNodes.length === 0) {
    return [{ kind: 'atom', handle: node, isSeen: isElement(node) && node.localName !== 'wbr' }];
  }
  const isSingle = single.has(node.localName) || node.id !== '' || node.localName.includes('-');
  const inside = [...node.childNodes].flatMap((child) => itemsOf(child, texts));
  return [{ kind: 'open', handle: node, isSingle, isScript: scripts.has(node.localName) }, ...inside, { kind: 'close' }];
}

const rules = { observe: boolean, signal: signalRule, source: detectorRule };

/**
 * Translates a live page, or a part of it, in place: what is visible first. Elements keep their state and listeners;
 * code, forms' contents, `translate="no"` and what can be edited stay as they are.
 * @param translator several go by the language of each sentence, as with byLanguage()
 * @throws when `node` is not part of a page, an option is unknown or impossible, or translators do not fit together
 * @example
 * const page = translateDocument(await Translator.load('models/de-en.safetensors'), document, { observe: true });
 * await page.finished;
 * page.undo(); // the original again
 */
export function translateDocument(
  translator: SentenceTranslator | readonly SentenceTranslator[], node: PageNode, options: DocumentOptions = {},
): DocumentTranslation {
  const given = checked<DocumentOptions>('document', rules, options);
  if (!(node instanceof Node) || ![1, 9, 11].includes(node.nodeType)) {
    throw new WasmformerTypeError('document', 'node must be a document, a fragment or an element');
  }
  const isOne = !Array.isArray(translator) && given.source === undefined;
  const used = isOne ? translator as SentenceTranslator : byLanguage(given.source ?? 'auto', [translator].flat());
  return new LivePage(used, node instanceof Document ? node.documentElement : node, given);
}
