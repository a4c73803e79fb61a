// Threads need a page that is cross-origin isolated. Where the host sends no headers for that, a service worker of the
// page adds them, and the page is loaded once more.

const TRIED = 'wasmformer.isolation';
const PATIENCE = 3000; // ms; the page works without

async function register() {
  await navigator.serviceWorker.register('./service-worker.js');
  await navigator.serviceWorker.ready;
}

/** Resolves when the page may go on, isolated or not; never where it is about to be loaded again. */
export async function isolate(): Promise<void> {
  try {
    if (crossOriginIsolated) return sessionStorage.removeItem(TRIED);
    // One that is there and did not help, or one reload that did not, will not help the next time either.
    if (!navigator.serviceWorker || navigator.serviceWorker.controller || sessionStorage.getItem(TRIED)) return;
    const isReady = await Promise.race([
      register().then(() => true),
      new Promise((resolve) => setTimeout(() => resolve(false), PATIENCE)),
    ]);
    if (!isReady) return;
    sessionStorage.setItem(TRIED, 'yes');
    location.reload();
  } catch {
    return; // service workers or the storage are forbidden
  }
  await new Promise(() => {});
}
