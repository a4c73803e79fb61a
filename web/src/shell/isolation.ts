// The service worker: it keeps the page for when there is no network, and where the host does not isolate the page,
// which threads need, it does so, after one reload of the page.
import type { TranslatorInfo } from 'wasmformer';

const TRIED = 'wasmformer.isolation';
const PATIENCE = 3000; // ms; the page works without

/** Whether only the next visit is isolated: the service worker was late, or the page was in use. */
let isNextIsolated = false;

async function register(): Promise<ServiceWorkerRegistration> {
  await navigator.serviceWorker.register('./service-worker.js');
  return navigator.serviceWorker.ready;
}

/**
 * Resolves when the page may go on, isolated or not; never where it is about to be loaded again. A visitor who has
 * pressed a button by then may have begun a run, which a reload would lose: the next visit is isolated.
 */
export async function isolate(): Promise<void> {
  try {
    if (crossOriginIsolated) return sessionStorage.removeItem(TRIED);
    // One that is there and did not help, or one reload that did not, will not help the next time either.
    if (!navigator.serviceWorker || navigator.serviceWorker.controller || sessionStorage.getItem(TRIED)) return;
    let isInUse = false;
    const notice = ({ target }: Event) => (isInUse ||= Boolean((target as Element).closest?.('main button')));
    const waiting = new AbortController();
    addEventListener('click', notice, { capture: true, signal: waiting.signal });
    const isReady = await Promise.race([
      register().then(() => true),
      new Promise((resolve) => setTimeout(() => resolve(false), PATIENCE)),
    ]).finally(() => waiting.abort());
    if (!isReady || isInUse) {
      isNextIsolated = true;
      return;
    }
    sessionStorage.setItem(TRIED, 'yes');
    location.reload();
  } catch {
    return; // service workers or the storage are forbidden
  }
  await new Promise(() => {});
}

type ModuleFacts = Pick<TranslatorInfo, 'build' | 'threads'>;
/** The module that the next visit uses. */
function moduleName({ build, threads }: ModuleFacts) {
  const most = isNextIsolated ? navigator.hardwareConcurrency : threads;
  return most > 1 ? `${build}-threads` : build;
}

/** Keeps all files of the page except models, with the module of the next visit; returns how many bytes they have. */
export async function keepPage(facts: ModuleFacts): Promise<number> {
  const { active } = await register();
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve, reject) => {
    port1.onmessage = ({ data }) => (data.error ? reject(new Error(data.error)) : resolve(data.bytes));
    active!.postMessage({ type: 'everything', name: moduleName(facts) }, [port2]);
  });
}

/** Calls `onUpdate` with what to do when a newer page has been kept and the visitor wants it. */
export async function keepOffline(facts: ModuleFacts, onUpdate: (take: () => void) => void): Promise<void> {
  try {
    if (!import.meta.env.PROD || !navigator.serviceWorker) return;
    const registration = await register();
    registration.active?.postMessage({ type: 'module', name: moduleName(facts) });
    const offer = () => {
      const { waiting } = registration;
      if (!waiting) return;
      onUpdate(() => {
        navigator.serviceWorker.addEventListener('controllerchange', () => location.reload());
        waiting.postMessage({ type: 'update' });
      });
    };
    offer();
    registration.addEventListener('updatefound', () => {
      registration.installing?.addEventListener('statechange', offer);
    });
  } catch {
    // forbidden: the page works without
  }
}
