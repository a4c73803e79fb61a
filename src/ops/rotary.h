// Rotary positions (Su et al. 2021, section 3.2.2): every query and key is turned by angles that grow with its place,
// so that their products depend on how far apart they are, not on where they are.
#pragma once

#include <span>

#include "autograd/tape.h"

namespace wasmformer {

// The places of the rows to turn, and the sines, then cosines of the angles of each place: [max_length, d_k], as
// sinusoidal_halves() gives them. Without `angles` nothing is turned.
struct Rotation {
  std::span<const Index> at = {};
  const Matrix* angles = nullptr;
};

// x: [n, heads · d_k]. In each head, features i and d_k/2 + i are a point that is turned by angle i of the row's place.
// Returns [n, heads · d_k]. Throws Error when rows and places differ in number, a place is outside the table, or
// `angles` do not have d_k columns.
Var rotary(Tape& tape, Var x, const Rotation& rotation, Index heads);

}  // namespace wasmformer
