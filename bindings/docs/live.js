// Lets readers run the HTML examples with <wasmformer-attention> in place; only on served pages: file: pages cannot load modules.
const base = new URL(document.documentElement.dataset.base, location);
const imports = {
  wasmformer: new URL('wasmformer/index.js', base).href,
  'wasmformer/attention': new URL('wasmformer/attention.js', base).href,
};
for (const pre of location.protocol === 'file:' ? [] : document.querySelectorAll('pre:has(code.html)')) {
  const code = pre.querySelector('code').cloneNode(true);
  for (const end of code.querySelectorAll('br')) end.replaceWith('\n');
  const html = code.textContent;
  if (!html.includes('<wasmformer-attention')) continue;
  const run = document.createElement('button');
  run.textContent = 'Run';
  run.onclick = () => {
    const frame = document.createElement('iframe');
    frame.title = 'The example, running';
    frame.style.cssText = 'width: 100%; height: 36rem; border: 1px solid var(--color-accent); background: white';
    frame.srcdoc = `<!doctype html><base href="${base}"><script type="importmap">${JSON.stringify({ imports })}</script>${html}`;
    run.replaceWith(frame);
  };
  pre.after(run);
}
