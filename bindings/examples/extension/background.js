// A service worker cannot hold the model: an offscreen page does.
async function translateTab(tabId) {
  const isOpen = await chrome.offscreen.hasDocument();
  if (!isOpen) {
    await chrome.offscreen.createDocument({ url: 'model.html', reasons: ['WORKERS'], justification: 'translates in a worker' });
  }
  await chrome.scripting.executeScript({ target: { tabId }, files: ['page.js'] });
}
chrome.action.onClicked.addListener(({ id }) => translateTab(id));
