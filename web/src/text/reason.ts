/** An error's sentence without its tags, such as '[load] ', to stand after a colon. */
export function reason(error: unknown): string {
  const text = String(error instanceof Error ? error.message : error);
  return text.replace(/(^|: )\[[a-z][\w -]*\] /g, '$1').replace(/\.+$/, '');
}
