// Rotary positions (Su et al. 2021, section 3.2.2): every query and key is rotated by angles that grow with its
// position, so that their products depend on the offset between them, not on where they are.
#pragma once

#include <span>

#include "autograd/tape.h"

namespace wasmformer {

struct Rotation {
  std::span<const Index> at = {};  // position of each row
  const Matrix* angles =
      nullptr;  // their sines, then cosines, [max_length, d_k], of sinusoidal_halves(); null: no rotation
};

// x: [n, heads · d_k]. In each head, features i and d_k/2 + i are a point that is rotated by angle i of the row's
// position. Returns [n, heads · d_k]. Throws Error when rows and positions differ in number, a position is outside the
// table, `angles` does not have d_k columns, or d_k is odd.
Var rotary(Tape& tape, Var x, const Rotation& rotation, Index heads);

}  // namespace wasmformer
