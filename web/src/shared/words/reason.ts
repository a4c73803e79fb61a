// What went wrong, as the page says it.

// Each browser has its own words for it.
const OFFLINE = /\b(Failed to fetch|Load failed|NetworkError when attempting to fetch resource)\.?$/;

/** An error's sentence without its tags, such as '[load] ', to stand after a colon. */
export function reason(error: unknown): string {
  if (error instanceof Error && error.name === 'QuotaExceededError') return "there is not enough space in this browser's storage";
  const text = String(error instanceof Error ? error.message : error);
  return text.replace(/(^|: )\[[a-z][\w -]*\] /g, '$1').replace(OFFLINE, 'there is no connection, or the server refuses it').replace(/\.+$/, '');
}

/** Translates such sentences: `table` maps sentences to their translations, with the same {placeholders} in both. */
export function retelling(table: Readonly<Record<string, string>>) {
  const rules = Object.entries(table).map(([from, to]) => {
    const parts = from.split(/\{(\w+)\}/); // every second one is a name
    const place = (name: string) => `(?<${name}>(?:${name === 'why' ? '' : '(?!: )'}.)+?)`; // no other sentence
    const source = parts.map((part, i) => (i % 2 ? place(part) : part.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'))).join('');
    return { pattern: new RegExp(`^${source}$`, 's'), to };
  });
  return function retell(text: string): string {
    for (const { pattern, to } of rules) {
      const found = pattern.exec(text);
      if (found) return to.replace(/\{(\w+)\}/g, (_, name: string) => retell(found.groups![name]));
    }
    const [, name, rest] = /^(.+?): (.+)$/s.exec(text) ?? []; // a file's name and what is wrong with it
    const said = rest === undefined ? undefined : retell(rest);
    return said === rest ? text : `${name}：${said}`;
  };
}
