// The builds of the module differ in few places, so the second is stored as what changes in the first: a list of
// (from, length, fresh), 32 bits each, its length before it and the fresh bytes of all after it. Each copies `length`
// bytes that begin `from` bytes after the end of what was copied last, and then takes `fresh` new ones.

const least = 8; // bytes that are worth a copy

/** @param {Uint8Array} first @param {Uint8Array} second @returns {Uint8Array<ArrayBuffer>} */
export function changesBetween(first, second) {
  const hash = (bytes, at) => (Math.imul(bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24), 0x9e3779b1) ^
    Math.imul(bytes[at + 4] | (bytes[at + 5] << 8) | (bytes[at + 6] << 16) | (bytes[at + 7] << 24), 0x85ebca6b)) >>> 11;
  const places = new Int32Array(1 << 21).fill(-1);
  for (let at = 0; at + least <= first.length; ++at) places[hash(first, at)] = at;
  const common = (from, at) => {
    let length = 0;
    while (from >= 0 && from + length < first.length && at + length < second.length && first[from + length] === second[at + length]) ++length;
    return length;
  };
  const list = [];
  const fresh = [];
  let end = 0; // of the last copy, in `first`
  let waiting = 0; // fresh bytes since then
  list.push(0, 0);
  for (let at = 0; at < second.length; ) {
    const straight = end + waiting; // as if the fresh bytes replaced as many
    const elsewhere = at + least <= second.length ? places[hash(second, at)] : -1;
    const from = common(straight, at) >= least ? straight : elsewhere;
    const length = common(from, at);
    if (length < least) {
      fresh.push(second[at++]);
      ++waiting;
      continue;
    }
    list.push(waiting, from - end, length);
    waiting = 0;
    at += length;
    end = from + length;
  }
  list.push(waiting);
  const numbers = Int32Array.of(list.length / 3, ...list);
  const changes = new Uint8Array(numbers.byteLength + fresh.length);
  changes.set(new Uint8Array(numbers.buffer));
  changes.set(fresh, numbers.byteLength);
  return changes;
}

/** @param {Uint8Array} first @param {Uint8Array} changes @returns {Uint8Array<ArrayBuffer>} the second */
export function changed(first, changes) {
  const [count] = new Int32Array(changes.slice(0, 4).buffer);
  const list = new Int32Array(changes.slice(4, 4 + 12 * count).buffer);
  let fresh = 4 + 12 * count;
  const sum = list.reduce((sum, number, i) => sum + (i % 3 > 0 ? number : 0), 0);
  const second = new Uint8Array(sum);
  let [from, at] = [0, 0];
  for (let i = 0; i < list.length; i += 3) {
    from += list[i];
    second.set(first.subarray(from, from + list[i + 1]), at);
    from += list[i + 1];
    at += list[i + 1];
    second.set(changes.subarray(fresh, fresh + list[i + 2]), at);
    fresh += list[i + 2];
    at += list[i + 2];
  }
  return second;
}
