// Numbers and places that several headers name.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "wasmformer/detail/option.h"

namespace wasmformer {

using Index = std::ptrdiff_t;  // a count, or a place counted from 0
using TokenId = std::int32_t;  // a piece of a vocabulary, counted from 0

using Labels = std::vector<std::string>;  // a text may have several or none

// A head of a model; layer and head count from 0.
struct AttentionHead {
  enum Kind { encoder, decoder, cross } attention = encoder;  // decoder: its self-attention
  Index layer = 0, head = 0;
  auto operator<=>(const AttentionHead&) const = default;

  // See schema/options.h.
  template <class Visitor>
  void visit(Visitor&& v) {
    v({"attention", "the encoder's attention, the decoder's own, or the decoder's to the source"}, attention);
    v({"layer", "counted from 0", {.low = 0}}, layer);
    v({"head", "counted from 0", {.low = 0}}, head);
  }
};
WASMFORMER_ENUM_NAMES(AttentionHead::Kind, "encoder", "decoder", "cross");

}  // namespace wasmformer
