// Keys and values of the tokens decoded so far, so that a step computes only its own row. A row is written
// once and shared by all hypotheses that contain its token.
#pragma once

#include <span>
#include <vector>

#include "model/config.h"
#include "nn/transformer_layers.h"
#include "tensor/matrix.h"

namespace wasmformer {

struct Cache {
  std::vector<LayerCache> layers;
  std::vector<Index> lengths;           // tokens in each slot; a slot is one hypothesis
  std::vector<std::int32_t> slot_rows;  // token j of slot i is row slot_rows[i · capacity + j]
  Index capacity = 0;                   // tokens a slot can hold

  // For `slots` hypotheses of at most `tokens` tokens each, all empty, with rows of these widths; a recurrent layer
  // has no values. Throws Error for more than 2^31 - 1 rows.
  Cache(Index decoder_layers, Index slots, Index tokens, Index key_width, Index value_width);
  // For a model of this kind.
  Cache(const Config& config, Index slots, Index tokens);

  // Adds unwritten rows for spans[i].size further tokens to slot i. May move the layers' rows. Throws Error
  // beyond the capacity.
  void append(std::span<const Span> spans);
  // Slot i becomes a copy of slot parents[i]; there are then as many slots as parents. Rows in no slot are
  // reused. Throws Error for more slots than at first.
  void select(const std::vector<Index>& parents);

 private:
  void add_rows(std::size_t count);

  std::vector<std::int32_t> uses_;  // per row: slots that end with it, and rows that follow it
  std::vector<std::int32_t> free_;
  std::vector<std::int32_t> selected_rows_;  // for select()
  std::vector<Index> selected_lengths_;
};

}  // namespace wasmformer
