// Seeded numbers that are the same on every machine (the standard library's distributions are not).
#pragma once

#include <cstdint>

#include "tensor/matrix.h"

namespace wasmformer {

// Mixes a counter into 64 random bits (splitmix64): stateless, so dropout can draw any element in any order.
inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// The 32-bit twin, which compilers vectorise.
inline std::uint32_t mix32(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

class Random {
 public:
  // Mixed, or the streams of seeds 1 and 2 would be one stream, a draw apart.
  explicit Random(std::uint64_t seed = 1) : state_(mix(seed)) {}

  std::uint64_t bits() { return mix(state_++ * 0xd1342543de82ef95u); }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  // [0, 1)
  Index below(Index n) { return static_cast<Index>(bits() % static_cast<std::uint64_t>(n)); }

  template <class T>
  void shuffle(std::vector<T>& items) {
    for (Index i = static_cast<Index>(items.size()) - 1; i > 0; --i) std::swap(items[i], items[below(i + 1)]);
  }

 private:
  std::uint64_t state_;
};

}  // namespace wasmformer
