// Listening to AbortSignals. Node warns of more than ten listeners on one signal, which many calls may share.

/** The listeners of a signal, and the one function that the signal itself calls. */
interface Listeners {
  all: Set<() => void>;
  callAll: () => void;
}
const waiting = new WeakMap<AbortSignal, Listeners>();

/** Calls `listener` when the signal aborts; the returned function ends that. A signal gets one listener for all of them. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (!signal) return () => {};
  const listeners = waiting.get(signal) ?? listen(signal);
  const own = () => listener(); // the same function may be given twice
  listeners.all.add(own);
  return () => {
    listeners.all.delete(own);
    if (listeners.all.size > 0) return;
    signal.removeEventListener('abort', listeners.callAll);
    waiting.delete(signal);
  };
}

function listen(signal: AbortSignal): Listeners {
  const all = new Set<() => void>();
  const listeners = { all, callAll: () => [...all].forEach((listener) => listener()) };
  signal.addEventListener('abort', listeners.callAll);
  waiting.set(signal, listeners);
  return listeners;
}
