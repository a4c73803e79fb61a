#include "model/masks.h"

#include <algorithm>

#include "schema/error.h"
#include "tensor/heap_sort.h"

namespace wasmformer {

Masks::Masks(const Config& config, std::vector<AttentionHead> masked_heads, std::span<const Span> spans,
             std::span<const std::vector<Index>> masked)
    : heads(std::move(masked_heads)), source_spans(spans.begin(), spans.end()) {
  for (const AttentionHead& h : heads) {
    const Index layers = h.attention == AttentionHead::encoder ? config.encoder_layers : config.decoder_attentions();
    WASMFORMER_CHECK(h.layer >= 0 && h.layer < layers && h.head >= 0 && h.head < config.num_heads, ErrorCode::mask,
                     "layer " << h.layer << ", head " << h.head << " is not in " << layers << " layers of "
                              << config.num_heads << " heads");
  }
  heap_sort(heads);
  if (std::all_of(masked.begin(), masked.end(), [](const auto& positions) { return positions.empty(); })) return;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const Span span = spans[i];
    for (Index position : masked[i])
      WASMFORMER_CHECK(position >= 0 && position < span.size, ErrorCode::mask,
                       "source position " << position << " is not in the " << span.size
                                          << " tokens of a sentence, which are counted from 0");
    const Index begin = static_cast<Index>(source_rows.size());
    for (Index j = 0; j < span.size; ++j)
      if (std::find(masked[i].begin(), masked[i].end(), j) == masked[i].end())
        source_rows.push_back(static_cast<std::int32_t>(span.begin + j));
    source_spans[i] = {begin, static_cast<Index>(source_rows.size()) - begin};
    WASMFORMER_CHECK(source_spans[i].size > 0 || span.size == 0, ErrorCode::all_masked,
                     "all " << span.size << " tokens of a sentence are masked; one must stay", {"count", span.size});
  }
}

std::span<const AttentionHead> Masks::heads_of(AttentionHead::Kind attention, std::size_t layer) const {
  const Index l = static_cast<Index>(layer);
  const auto begin = std::lower_bound(heads.begin(), heads.end(), AttentionHead{attention, l, 0});
  return {begin, std::lower_bound(begin, heads.end(), AttentionHead{attention, l + 1, 0})};
}

}  // namespace wasmformer
