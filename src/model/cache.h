// Keys and values of the tokens decoded so far, so that a step computes its own row only. A row is written
// once and shared by all hypotheses that go through its token.
#pragma once

#include <span>
#include <vector>

#include "tensor/matrix.h"

namespace wasmformer {

struct Cache {
  struct Layer {
    Matrix keys, values;              // [rows, d_model], projected
    Matrix cross_keys, cross_values;  // [memory rows, d_model], projected once by the first step
  };
  std::vector<Layer> layers;
  std::vector<Index> lengths;           // tokens in each slot; a slot is one hypothesis
  std::vector<std::int32_t> slot_rows;  // token j of slot i is row slot_rows[i · capacity + j]
  Index capacity = 0;                   // tokens a slot can hold

  // Throws Error for more than 2^31 - 1 rows.
  Cache(Index decoder_layers, Index slots, Index tokens, Index d_model);

  // Slot i gets rows, not yet written, for spans[i].size further tokens. May move the layers' rows. Throws
  // Error beyond the capacity.
  void append(std::span<const Span> spans);
  // Slot i becomes what slot parents[i] was; as many slots as parents remain. Rows in no slot are used again.
  // Throws Error for more slots than there were at first.
  void select(const std::vector<Index>& parents);

 private:
  void add_rows(std::size_t count);

  std::vector<std::int32_t> uses_;  // of a row: the slots that it is last in and the rows that follow it
  std::vector<std::int32_t> free_;
  std::vector<std::int32_t> selected_rows_;  // what select() builds
  std::vector<Index> selected_lengths_;
};

}  // namespace wasmformer
