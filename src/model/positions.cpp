#include "model/positions.h"

#include <algorithm>

#include "ops/embedding.h"

namespace wasmformer {
namespace {

// The place t = 0, 1, ... in all columns: [rows, d].
Matrix integer_positions(Index rows, Index d) {
  Matrix table(rows, d);
  for (Index place = 0; place < rows; ++place) table.row(place).setConstant(static_cast<Scalar>(place));
  return table;
}

}  // namespace

Matrix computed_positions(const Config& c, Index rows) {
  const Index half = c.d_model / 2;
  switch (c.positions) {
    case Positions::sinusoidal:
      return sinusoidal_positions(rows, c.d_model);
    case Positions::sinusoidal_halves:
      return sinusoidal_halves(rows, c.d_model, half);
    case Positions::sinusoidal_marian:
      return sinusoidal_halves(rows, c.d_model, std::max<Index>(half - 1, 1));
    case Positions::rotary: {
      const Index d_k = c.head_key_dim();
      return sinusoidal_halves(rows, d_k, d_k / 2);
    }
    case Positions::integers:
      return integer_positions(rows, c.d_model);
    case Positions::learned:
    case Positions::none:
    case Positions::fractions:
      break;
  }
  return Matrix(0, c.d_model);
}

Var fraction_positions(Tape& tape, std::span<const Index> places, std::span<const Span> spans,
                       std::span<const Span> sources, Index d) {
  Var rows = tape.variable(static_cast<Index>(places.size()), d, /*wants_gradient=*/false);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const Scalar last = static_cast<Scalar>(std::max<Index>(sources[i].size - 1, 1));
    for (Index row = spans[i].begin; row < spans[i].end(); ++row)
      rows.mutable_value().row(row).setConstant(static_cast<Scalar>(places[row]) / last);
  }
  return rows;
}

}  // namespace wasmformer
