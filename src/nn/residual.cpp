#include "nn/residual.h"

#include "ops/residual_sum.h"

namespace wasmformer {
namespace {

Var copy(Tape& tape, Var y) {
  Var result = tape.variable(y.rows(), y.cols(), /*wants_gradient=*/false);
  result.mutable_value() = y.value();
  return result;
}

}  // namespace

Var AddAndNorm::normalized(Tape& tape, ResidualStream& stream, const LayerNorm& norm) const {
  if (!stream.addend) return norm(tape, stream.x);
  const ResidualNorm result = norm(tape, stream.x, *stream.addend, dropout);
  stream.x = result.sum;
  stream.addend.reset();
  if (stream.record) stream.record->residuals.push_back(stream.x);
  return result.norm;
}

ResidualStream AddAndNorm::operator()(Tape& tape, ResidualStream stream, const LayerNorm& norm,
                                      FunctionRef<Var(Var)> sublayer) const {
  const bool is_pre = position == NormPosition::pre;
  const Var y = sublayer(is_pre ? normalized(tape, stream, norm) : stream.x);
  if (stream.record) stream.record->sublayers.push_back(copy(tape, y));  // the norm takes the memory of y
  if (is_pre && residual) {
    stream.addend = y;
    return stream;
  }
  stream.x = joined(tape, stream.x, y, norm);
  if (stream.record) stream.record->residuals.push_back(stream.x);
  return stream;
}

Var AddAndNorm::joined(Tape& tape, Var x, Var y, const LayerNorm& norm) const {
  if (position == NormPosition::post && residual) return norm(tape, x, y, dropout).norm;
  const Var sum = residual_sum(tape, residual ? std::optional(x) : std::nullopt, y, dropout);
  return position == NormPosition::post ? norm(tape, sum) : sum;
}

Var AddAndNorm::output(Tape& tape, ResidualStream stream, const LayerNorm& norm) const {
  const Var y = position == NormPosition::pre ? normalized(tape, stream, norm) : stream.x;
  if (stream.record) stream.record->output = y;
  return y;
}

}  // namespace wasmformer
