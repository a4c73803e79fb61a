/** Gives a file to the visitor. */
export function save(file: Blob, name: string) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Lets the page answer before long work goes on. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
