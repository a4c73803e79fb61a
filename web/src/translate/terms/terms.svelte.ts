// The visitor's terms, which translations between two languages must use. The browser keeps them.
import type { GlossaryTerm } from 'wasmformer';
import { createModels, type Models } from '../../models/models.svelte';
import { remember, remembered } from '../../shell/settings.svelte';
import type { Stores } from '../../shared/stores.svelte';

const isTerm = (value: unknown): value is GlossaryTerm =>
  typeof value === 'object' && value !== null
  && 'source' in value && typeof value.source === 'string' && 'target' in value && typeof value.target === 'string';

/** Terms that the browser has stored for two languages; none if the text there is not ours. */
function kept(languages: string): GlossaryTerm[] {
  try {
    const value: unknown = JSON.parse(remembered(`terms.${languages}`) ?? '[]');
    return Array.isArray(value) ? value.filter(isTerm) : [];
  } catch {
    return [];
  }
}

/** The terms of a table as spreadsheets copy it: two columns with a tab between. */
export function termsOf(table: string): GlossaryTerm[] {
  const rows = table.split(/\r?\n/).map((line) => line.split('\t'));
  return rows.flatMap(([source, target = '']) => (source.trim() ? [{ source: source.trim(), target: target.trim() }] : []));
}

export class Terms {
  readonly #models: Models;
  /** By languages, such as de-en. */
  #all = $state.raw<Record<string, readonly GlossaryTerm[]>>({});

  readonly languages = $derived.by(() => `${this.#models.sourceCode ?? ''}-${this.#models.targetCode ?? ''}`);
  /** The terms as they were typed, half-finished ones included. */
  readonly rows = $derived.by(() => this.#all[this.languages] ?? kept(this.languages));
  /** The finished ones; undefined if there are none. */
  readonly glossary = $derived.by((): GlossaryTerm[] | undefined => {
    const terms = this.rows.map(({ source, target }) => ({ source: source.trim(), target: target.trim() }));
    const finished = terms.filter(({ source, target }) => source && target);
    return finished.length > 0 ? finished : undefined;
  });

  constructor(models: Models) {
    this.#models = models;
  }

  set(rows: readonly GlossaryTerm[]) {
    this.#all = { ...this.#all, [this.languages]: rows };
    remember(`terms.${this.languages}`, JSON.stringify(rows));
  }
}

export const createTerms = (stores: Stores) => new Terms(stores.get(createModels));
