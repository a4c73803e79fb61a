#include "tasks/batches.h"

#include <algorithm>
#include <numeric>

#include "tensor/random.h"

namespace wasmformer {
namespace {

std::vector<Index> order_of(const Examples& examples) {
  std::vector<Index> order(static_cast<std::size_t>(examples.size()));
  std::iota(order.begin(), order.end(), Index(0));
  return order;
}

std::vector<std::vector<Index>> cut(const Examples& examples, Index batch_tokens, const std::vector<Index>& order) {
  std::vector<std::vector<Index>> batches;
  Examples::Sides sum;
  for (Index i : order) {
    const auto [source, target] = examples.tokens(i);
    if (batches.empty() || std::max(sum.source + source, sum.target + target) > batch_tokens) {
      batches.emplace_back();
      sum = {};
    }
    batches.back().push_back(i);
    sum.source += source;
    sum.target += target;
  }
  return batches;
}

}  // namespace

std::vector<std::vector<Index>> plan_batches(const Examples& examples, Index batch_tokens) {
  return cut(examples, batch_tokens, order_of(examples));
}

std::vector<std::vector<Index>> plan_shuffled_batches(const Examples& examples, Index batch_tokens, std::uint64_t seed,
                                                      Index epoch) {
  std::vector<Index> order = order_of(examples);
  Random(mix(seed) + static_cast<std::uint64_t>(epoch)).shuffle(order);
  return cut(examples, batch_tokens, order);
}

std::uint64_t add_to_hash(std::uint64_t hash, const std::vector<TokenId>& ids) {
  for (TokenId id : ids) hash = (hash ^ static_cast<std::uint32_t>(id)) * 0x100000001b3;
  return hash;
}

Span take(const Spans& from, std::size_t begin, std::size_t end, Spans& to) {
  if (from.empty() || begin == end) return {0, 0};
  const Index first = from[begin].begin;
  for (std::size_t i = begin; i < end; ++i) to.push_back({from[i].begin - first, from[i].size});
  return {first, from[end - 1].end() - first};
}

}  // namespace wasmformer
