// The state of one page: each store is made when it is first asked for, out of the others that it needs, and lives as
// long as the page. A test makes the one that it looks at, with stand-ins for the others.
import { createContext, untrack } from 'svelte';

type Make<Store> = (stores: Stores) => Store;

export class Stores {
  readonly #made = new Map<Make<unknown>, unknown>();

  get<Store>(make: Make<Store>): Store {
    // Outside of the component that asks first, so that what the store derives outlives it.
    if (!this.#made.has(make))
      $effect.root(
        () =>
          void this.#made.set(
            make,
            untrack(() => make(this)),
          ),
      );
    return this.#made.get(make) as Store;
  }
}

const [useStores, provideStores] = createContext<Stores>();
export { provideStores, useStores };

/** A store of the page that a component stands in. */
export const useStore = <Store>(make: Make<Store>): Store => useStores().get(make);
