#include "ops/embedding.h"

#include <cmath>

#include "ops/dropout.h"

namespace wasmformer {
namespace {

void check_range(const char* what, Index value, Index size) {
  WASMFORMER_CHECK(value >= 0 && value < size, ErrorCode::embedding, what << " " << value << " is not below " << size);
}

// Inputs of the forward pass that the backward pass needs.
struct Lookup {
  std::span<const TokenId> ids;
  std::span<const Index> at;
  const Parameter* table;
  const Parameter* positions;  // null: none
  Scalar scale;
  Dropout mask;
};

// y = (table[id] scale + positions[place]) * mask; tokens repeat, so threads split the columns.
void add_gradients(Tape& tape, const Lookup& lookup, ConstView dy) {
  const Parameter& table = *lookup.table;
  const Parameter* positions = lookup.positions && lookup.positions->wants_gradient() ? lookup.positions : nullptr;
  const Index cols = dy.cols();
  tape.for_columns(cols, [&](Index begin, Index end) {
    const Index size = end - begin;
    RowVector g(size);
    for (Index i = 0; i < dy.rows(); ++i) {
      g = dy.row(i).segment(begin, size);
      lookup.mask.apply(g.data(), i * cols + begin, size);
      table.gradient.row(lookup.ids[i]).segment(begin, size) += g * lookup.scale;
      if (positions) positions->gradient.row(lookup.at[i]).segment(begin, size) += g;
    }
  });
}

}  // namespace

Var embedding(Tape& tape, std::span<const TokenId> ids, std::span<const Index> at, const Parameter& table,
              const Parameter* positions, double dropout, bool scaled) {
  WASMFORMER_CHECK(ids.size() == at.size(), ErrorCode::embedding, ids.size() << " ids but " << at.size() << " places");
  const Index n = static_cast<Index>(ids.size()), d = table.cols;
  for (TokenId id : ids) check_range("token", id, table.rows);

  const Scalar scale = scaled ? std::sqrt(static_cast<Scalar>(d)) : 1;
  const Dropout drop(tape, dropout, d);
  if (positions) {
    for (Index place : at) check_range("place", place, positions->rows);
    WASMFORMER_CHECK(positions->value.cols() == d, ErrorCode::embedding,
                     "positions [" << positions->rows << ", " << positions->cols << "] and table [" << table.rows
                                   << ", " << d << "] differ in columns");
  }
  Var y = tape.variable(n, d, table.wants_gradient());
  tape.for_rows(n, d, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      auto row = y.mutable_value().row(i);
      table.row(ids[i], row.data());
      row *= scale;
      if (positions) row += positions->value.row(at[i]);
      drop.apply(row.data(), i * d, d);
    }
  });

  if (y.wants_gradient()) {
    const Lookup lookup{.ids = tape.keep(ids),
                        .at = tape.keep(at),
                        .table = &table,
                        .positions = positions,
                        .scale = scale,
                        .mask = drop};
    tape.record(y, [&tape, lookup](ConstView dy) { add_gradients(tape, lookup, dy); });
  }
  return y;
}

Matrix sinusoidal_positions(Index max_length, Index d) {
  Matrix table(max_length, d);
  for (Index j = 0; j < d; ++j) {
    const double wavelength = std::pow(10000.0, static_cast<double>(j / 2 * 2) / static_cast<double>(d));
    for (Index position = 0; position < max_length; ++position) {
      const double angle = static_cast<double>(position) / wavelength;
      table(position, j) = static_cast<Scalar>(j % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

Matrix sinusoidal_halves(Index max_length, Index d, Index steps) {
  Matrix table(max_length, d);
  for (Index i = 0; i < d / 2; ++i) {
    const double frequency = std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(steps));
    for (Index position = 0; position < max_length; ++position) {
      const double angle = static_cast<double>(position) * frequency;
      table(position, i) = static_cast<Scalar>(std::sin(angle));
      table(position, d / 2 + i) = static_cast<Scalar>(std::cos(angle));
    }
  }
  return table;
}

}  // namespace wasmformer
