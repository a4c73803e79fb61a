// Layout of the panels of a packed weight in memory. That depends on the processor that is compiled for, so
// what users of the library include does not include it.
#pragma once

#include "gemm/int8.h"

namespace wasmformer {

// Columns of a product that are computed together: two vectors.
template <class Word>
constexpr Index panel_width = 2 * simd::lanes<Word>;
template <class Word>
constexpr Index panels(Index columns) {
  return (columns + panel_width<Word> - 1) / panel_width<Word>;
}

constexpr Index int8_words(Index k) { return (k + simd::smalls_per_word - 1) / simd::smalls_per_word; }

}  // namespace wasmformer
