// <wasmformer-attention>: the page's attention view, for any page. Its one script is dist/attention.js.
import { mount, unmount } from 'svelte';
import type { Attention, Translation } from 'wasmformer';
import '../shared/basics.css';
import './host.css';
import Panel from './Panel.svelte';
import { View } from './view.svelte';

/** Choices of the visitor, and the detail of the event 'change'. Layers and heads are counted from 0. */
export interface AttentionChoice {
  kind: keyof Attention;
  /** Null only where there is no map yet and none was set. */
  layer: number | null;
  head: number | 'mean';
  form: 'heat' | 'lines';
}

const KINDS: readonly string[] = ['cross', 'encoder', 'decoder'];
const FORMS: readonly string[] = ['heat', 'lines'];
const isCount = (value: unknown) => Number.isInteger(value) && (value as number) >= 0;

function check(isRight: boolean, name: string, value: unknown, wanted: string): void {
  if (!isRight) throw new TypeError(`[attention] ${name} is ${String(value)}, not ${wanted}`);
}

// On a server the class is there, and only its elements are not.
const Base: typeof HTMLElement = typeof HTMLElement === 'undefined' ? (class {} as typeof HTMLElement) : HTMLElement;

let style: CSSStyleSheet | undefined; // of all elements; a page's policy may refuse style elements

/**
 * Shows the attention of a translation: a heat map or lines, every layer and head, by pointer and by keyboard.
 * Text has the page's color and typeface, and `color-scheme` says whether it is light or dark there. These custom
 * properties are taken too: --wasmformer-background (default: Canvas), --wasmformer-muted, --wasmformer-rule and
 * --wasmformer-attention, all colors, and --wasmformer-ramp, two or more colors as #rrggbb from 0 to 1.
 * It speaks Chinese where the nearest `lang` is that when it is connected, and else English.
 * @fires change when the visitor has chosen another kind, form, layer or head: a CustomEvent<AttentionChoice>
 */
export class AttentionElement extends Base {
  static readonly observedAttributes: string[] = ['kind', 'layer', 'head', 'form', 'lang'];
  readonly #view: View = new View();
  readonly #root: ShadowRoot = this.attachShadow({ mode: 'open' });
  #panel: Record<string, unknown> | undefined;

  /** Result of translate() with `attention` set to true; null, the default, shows nothing. */
  get translation(): Translation | null {
    return this.#view.translation;
  }
  set translation(value: Translation | null) {
    const isRight = value == null || (Array.isArray(value.sourceTokens) && Array.isArray(value.targetTokens));
    check(isRight, 'translation', value, 'what translate() gives, or null');
    this.#view.translation = value ?? null;
  }

  /** Also an attribute. Default 'cross'. */
  get kind(): keyof Attention {
    return this.#view.kind;
  }
  set kind(value: keyof Attention) {
    check(KINDS.includes(value), 'kind', value, `one of ${KINDS.join(', ')}`);
    this.#view.kind = value;
  }

  /** Also an attribute; counted from 0. Default null: the last. Where there are not so many, the last is shown. */
  get layer(): number | null {
    return this.#view.chosen.layer;
  }
  set layer(value: number | null) {
    check(value === null || isCount(value), 'layer', value, 'a number from 0');
    this.#view.layer = value;
  }

  /** Also an attribute; counted from 0. Default 'mean', of the layer's heads; so where there are not so many. */
  get head(): number | 'mean' {
    return this.#view.chosen.head;
  }
  set head(value: number | 'mean') {
    check(value === 'mean' || isCount(value), 'head', value, "a number from 0 or 'mean'");
    this.#view.head = value;
  }

  /** Also an attribute. Default 'heat'. */
  get form(): 'heat' | 'lines' {
    return this.#view.form;
  }
  set form(value: 'heat' | 'lines') {
    check(FORMS.includes(value), 'form', value, `one of ${FORMS.join(', ')}`);
    this.#view.form = value;
  }

  attributeChangedCallback(name: string, _before: string | null, value: string | null): void {
    const count = value === null || value.trim() === '' ? NaN : Number(value);
    switch (name) {
      case 'kind':
        this.kind = (value ?? 'cross') as keyof Attention;
        break;
      case 'layer':
        this.layer = value === null ? null : count;
        break;
      case 'head':
        this.head = value === null || value === 'mean' ? 'mean' : count;
        break;
      case 'form':
        this.form = (value ?? 'heat') as 'heat' | 'lines';
        break;
      case 'lang':
        this.#listen();
    }
  }

  connectedCallback(): void {
    // Properties that were set before the class was defined hide its setters.
    const own = this as unknown as Record<string, unknown>;
    for (const name of ['translation', 'kind', 'layer', 'head', 'form']) {
      if (!Object.hasOwn(own, name)) continue;
      const value = own[name];
      delete own[name];
      own[name] = value;
    }
    // web/element.config.ts puts the style sheet in the place of STYLE.
    if (!style) (style = new CSSStyleSheet()).replaceSync('STYLE');
    this.#root.adoptedStyleSheets = [style];
    this.#listen();
    this.#panel = mount(Panel, { target: this.#root, props: { view: this.#view, onchange: () => this.#tell() } });
  }

  disconnectedCallback(): void {
    if (this.#panel) void unmount(this.#panel);
    this.#panel = undefined;
  }

  #listen(): void {
    this.#view.locale = this.closest<HTMLElement>('[lang]')?.lang.startsWith('zh') ? 'zh' : 'en';
  }

  #tell(): void {
    const { kind, layer, head, form } = this;
    const detail: AttentionChoice = { kind, layer, head, form };
    this.dispatchEvent(new CustomEvent('change', { detail, bubbles: true }));
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'wasmformer-attention': AttentionElement;
  }
}

const NAME = 'wasmformer-attention';
if (typeof customElements !== 'undefined' && !customElements.get(NAME)) customElements.define(NAME, AttentionElement);
