#include "ops/top_k.h"

#include <algorithm>
#include <cmath>

#include "tensor/vector_math.h"

namespace wasmformer {
namespace {

constexpr auto is_better = [](const TokenScore& a, const TokenScore& b) {
  return a.score > b.score || (a.score == b.score && a.id < b.id);
};

}  // namespace

void top_k(const Eigen::Ref<const RowVector>& row, std::span<TokenScore> best) {
  constexpr Index block = 64;
  const Index n = row.size(), k = static_cast<Index>(best.size());
  for (Index id = 0; id < k; ++id)
    best[static_cast<std::size_t>(id)] = {static_cast<TokenId>(id), static_cast<float>(row(id))};
  std::make_heap(best.begin(), best.end(), is_better);
  const TokenScore& worst = best.front();  // of a heap in this order
  for (Index begin = k; begin < n; begin += block) {
    const Index end = std::min(begin + block, n);
    // Nearly all blocks of a row hold none of the best.
    const bool is_whole = end - begin == block;
    if (is_whole && static_cast<float>(row.segment<block>(begin).maxCoeff()) <= worst.score) continue;
    for (Index id = begin; id < end; ++id) {
      const TokenScore entry{static_cast<TokenId>(id), static_cast<float>(row(id))};
      if (entry.score <= worst.score) continue;
      std::pop_heap(best.begin(), best.end(), is_better);
      best.back() = entry;
      std::push_heap(best.begin(), best.end(), is_better);
    }
  }
  std::sort_heap(best.begin(), best.end(), is_better);
}

Scalar log_sum_exp(const Eigen::Ref<const RowVector>& row, Scalar max) {
  return max + std::log(simd::rough_sum_of_exponentials(row.data(), row.size(), max));
}

}  // namespace wasmformer
