#include "ops/rotary.h"

namespace wasmformer {
namespace {

// Adds to y the rows of x, rotated by the angles of their places, or back with sign -1.
void add_turned(Tape& tape, ConstView x, View y, const Rotation& rotation, Scalar sign) {
  const Index half = rotation.angles->cols() / 2;
  tape.for_rows(x.rows(), x.cols(), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const auto angles = rotation.angles->row(rotation.at[i]).array();
      const auto sine = angles.head(half), cosine = angles.tail(half);
      for (Index column = 0; column < x.cols(); column += 2 * half) {
        const auto a = x.row(i).segment(column, half).array(), b = x.row(i).segment(column + half, half).array();
        y.row(i).segment(column, half).array() += a * cosine - sign * b * sine;
        y.row(i).segment(column + half, half).array() += b * cosine + sign * a * sine;
      }
    }
  });
}

}  // namespace

Var rotary(Tape& tape, Var x, const Rotation& rotation, Index heads) {
  if (!rotation.angles) return x;
  const auto& [at, angles] = rotation;
  const Index n = x.rows(), d = x.cols();
  WASMFORMER_CHECK(static_cast<Index>(at.size()) == n, ErrorCode::rotary, n << " rows but " << at.size() << " places");
  WASMFORMER_CHECK(angles->cols() % 2 == 0 && angles->cols() * heads == d, ErrorCode::rotary,
                   "angles " << shape(*angles) << " do not fit " << heads << " heads in " << d
                             << " features; a head needs an even number");
  for (Index place : at)
    WASMFORMER_CHECK(place >= 0 && place < angles->rows(), ErrorCode::rotary,
                     "place " << place << " is outside 0 to " << angles->rows() - 1);
  Var y = tape.variable(n, d, x.wants_gradient());
  y.mutable_value().setZero();
  add_turned(tape, x.value(), y.mutable_value(), rotation, 1);
  if (y.wants_gradient()) {
    tape.record(y, [&tape, x, kept = Rotation{tape.keep(at), angles}](ConstView upstream) {
      add_turned(tape, upstream, tape.zeroed_gradient(x), kept, -1);
    });
  }
  return y;
}

}  // namespace wasmformer
