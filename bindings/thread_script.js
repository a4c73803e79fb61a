// Put into the builds with threads. Each thread runs the module's own script again, in a worker: from the address that
// the package gives, since bundlers rename that script, and since no page may start a worker of another host.
var Worker = function (_, options) {
  return new globalThis.Worker(Module['threadScript'], options);
};
