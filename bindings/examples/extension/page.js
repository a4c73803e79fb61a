// In the page: its sentences go to the model. Run again, it restores the original.
(async () => {
  if (globalThis.translation) {
    globalThis.translation.undo();
    delete globalThis.translation;
    return;
  }
  const { translateDocument } = await import(chrome.runtime.getURL('wasmformer/webpages/index.js'));
  const translate = async (sentences) => {
    const { found, message } = await chrome.runtime.sendMessage(sentences);
    if (message) throw new Error(message);
    return found;
  };
  globalThis.translation = translateDocument({ info: { languages: 'de-en' }, translate }, document, { observe: true });
  globalThis.translation.finished.catch(console.error);
})();
