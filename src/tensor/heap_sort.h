// Sorting with little code: std::sort compiles to ten times as much, which matters where a list is sorted once.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>

namespace wasmformer {

// Not stable. n log n comparisons also in the worst case.
template <class List, class Less = std::less<>>
void heap_sort(List& list, Less is_less = {}) {
  std::make_heap(list.begin(), list.end(), is_less);
  std::sort_heap(list.begin(), list.end(), is_less);
}

}  // namespace wasmformer
