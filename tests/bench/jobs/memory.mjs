// Told over this channel to count, a page or worker that ran this script first says how many bytes the memories of its
// WebAssembly modules have: their peak, since they never shrink. Both kinds of workers can load it.
{
  const memories = new Set();
  const { get } = Object.getOwnPropertyDescriptor(WebAssembly.Memory.prototype, 'buffer');
  // No engine can use a memory without this.
  Object.defineProperty(WebAssembly.Memory.prototype, 'buffer', {
    get() {
      memories.add(this);
      return get.call(this);
    },
  });
  const channel = new BroadcastChannel('wasm-memory');
  channel.onmessage = ({ data }) => {
    if (data !== 'count') return;
    channel.postMessage([...memories].reduce((sum, memory) => sum + get.call(memory).byteLength, 0));
  };
}
