/** Rows down and columns right that an arrow key means; nothing for other keys. */
export function arrow(key: string): readonly [down: number, right: number] | readonly [] {
  const all = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] } as const;
  return all[key as keyof typeof all] ?? [];
}

/** Enter and Space press what is not a button. */
export const pressed = (press: (event: KeyboardEvent) => void) => (event: KeyboardEvent) => {
  if (event.key !== 'Enter' && event.key !== ' ') return;
  event.preventDefault();
  press(event);
};

const HORIZONTAL = ['ArrowLeft', 'ArrowRight', 'Home', 'End'];

/** The tab that a key leads to from the tab `at`. */
export function tabAfter(key: string, at: number, count: number): number {
  const to = { ArrowLeft: at - 1 + count, ArrowRight: at + 1, Home: 0, End: count - 1 }[key] ?? at;
  return to % count;
}

/** Arrow keys, Home and End go from tab to tab, round and round; Space opens the one that is reached, as Enter does. */
export function tabs(list: HTMLElement) {
  const press = (event: KeyboardEvent) => {
    const all = [...list.querySelectorAll<HTMLElement>('[role=tab]')];
    const at = all.indexOf(event.target as HTMLElement);
    if (at < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === ' ') all[at].click();
    else if (!HORIZONTAL.includes(event.key)) return;
    else all[tabAfter(event.key, at, all.length)].focus();
    event.preventDefault();
  };
  list.addEventListener('keydown', press);
  return () => list.removeEventListener('keydown', press);
}

/** Lets Tab reach one of a group of buttons; the arrow keys, Home and End go from there to the others. */
export function roving(group: HTMLElement) {
  let current: HTMLElement | undefined;
  const items = () => [...group.querySelectorAll<HTMLElement>('button:not(:disabled)')];
  const reach = (item = current?.isConnected ? current : items()[0]) => {
    current = item;
    for (const other of items()) other.tabIndex = other === item ? 0 : -1;
  };
  const step = (event: KeyboardEvent) => {
    const all = items();
    const at = all.indexOf(event.target as HTMLElement);
    const to = {
      ArrowLeft: at - 1,
      ArrowUp: at - 1,
      ArrowRight: at + 1,
      ArrowDown: at + 1,
      Home: 0,
      End: all.length - 1,
    }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    all[Math.min(all.length - 1, Math.max(0, to))].focus();
  };
  const enter = (event: FocusEvent) => reach((event.target as HTMLElement).closest('button') ?? undefined);
  const observer = new MutationObserver(() => reach());
  observer.observe(group, { childList: true, subtree: true });
  group.addEventListener('keydown', step);
  group.addEventListener('focusin', enter);
  reach();
  return () => {
    observer.disconnect();
    group.removeEventListener('keydown', step);
    group.removeEventListener('focusin', enter);
  };
}
