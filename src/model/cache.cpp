#include "model/cache.h"

#include <algorithm>
#include <limits>

#include "schema/error.h"

namespace wasmformer {
namespace {

std::size_t checked_product(Index slots, Index tokens) {
  constexpr Index max_rows = std::numeric_limits<std::int32_t>::max();  // rows are numbered by these
  WASMFORMER_CHECK(tokens == 0 || slots <= max_rows / tokens, ErrorCode::cache,
                   slots << " slots of " << tokens << " tokens are more than " << max_rows << " rows");
  return static_cast<std::size_t>(slots * tokens);
}

}  // namespace

Cache::Cache(Index decoder_layers, Index slots, Index tokens, Index key_width, Index value_width)
    : layers(decoder_layers),
      lengths(slots, 0),
      slot_rows(checked_product(slots, tokens), 0),
      capacity(tokens),
      selected_rows_(slot_rows.size(), 0) {
  selected_lengths_.reserve(slots);
  for (LayerCache& layer : layers) {
    layer.keys.resize(0, key_width);
    layer.values.resize(0, value_width);
  }
  // Few sentences reach the capacity, and beams share most rows, so start small.
  constexpr Index tokens_at_first = 8;
  add_rows(slots * std::min(tokens, tokens_at_first));
}

Cache::Cache(const Config& c, Index slots, Index tokens)
    : Cache(c.decoder_layers, slots, tokens, c.is_recurrent() ? c.d_model : c.key_width(),
            c.is_recurrent() ? 0 : c.d_model) {}

void Cache::add_rows(std::size_t count) {
  const std::size_t rows = std::min(uses_.size() + count, slot_rows.size());  // the most that can be in use
  for (LayerCache& layer : layers) {
    layer.keys.conservativeResize(rows, Eigen::NoChange);
    layer.values.conservativeResize(rows, Eigen::NoChange);
  }
  free_.reserve(rows);
  for (std::size_t row = rows; row-- > uses_.size();) free_.push_back(static_cast<std::int32_t>(row));
  uses_.resize(rows, 0);
}

void Cache::append(std::span<const Span> spans) {
  std::size_t wanted = 0;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const Index length = lengths[i] + spans[i].size;
    WASMFORMER_CHECK(length <= capacity, ErrorCode::cache, length << " tokens do not fit the cache's " << capacity);
    wanted += spans[i].size;
  }
  if (wanted > free_.size()) add_rows(std::max(wanted - free_.size(), uses_.size()));
  for (std::size_t i = 0; i < spans.size(); ++i) {
    std::int32_t* rows = slot_rows.data() + i * capacity;
    for (Index j = 0; j < spans[i].size; ++j) {
      const std::int32_t row = rows[lengths[i]++] = free_.back();
      free_.pop_back();
      uses_[row] = 1;
    }
  }
}

void Cache::select(const std::vector<Index>& parents) {
  const Index slots = static_cast<Index>(parents.size());
  WASMFORMER_CHECK(slots * capacity <= static_cast<Index>(slot_rows.size()), ErrorCode::cache,
                   slots << " slots are more than it was made for");
  selected_lengths_.clear();
  for (Index i = 0; i < slots; ++i) {
    const Index length = lengths[parents[i]];
    const std::int32_t* rows = slot_rows.data() + parents[i] * capacity;
    std::copy_n(rows, length, selected_rows_.data() + i * capacity);
    if (length > 0) ++uses_[rows[length - 1]];
    selected_lengths_.push_back(length);
  }
  // Free the rows of slots that end here, back to where a remaining slot branched off.
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const std::int32_t* rows = slot_rows.data() + i * capacity;
    for (Index j = lengths[i]; j > 0 && --uses_[rows[j - 1]] == 0; --j) free_.push_back(rows[j - 1]);
  }
  slot_rows.swap(selected_rows_);
  lengths.swap(selected_lengths_);
}

}  // namespace wasmformer
