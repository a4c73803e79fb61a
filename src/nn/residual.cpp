#include "nn/residual.h"

#include "ops/residual_sum.h"

namespace wasmformer {
namespace {

Var copy(Tape& tape, Var y) {
  Var result = tape.variable(y.rows(), y.cols(), /*wants_gradient=*/false);
  result.mutable_value() = y.value();
  return result;
}

void note_norm(StackRecord* record, Var norm) {
  if (record) record->norms.push_back(norm);
}

}  // namespace

Var AddAndNorm::normalized(Tape& tape, ResidualStream& stream, const LayerNorm& norm) const {
  if (!stream.addend) {
    const Var y = norm(tape, stream.x);
    note_norm(stream.record, y);
    return y;
  }
  const ResidualNorm result = norm(tape, stream.x, *stream.addend, dropout);
  stream.x = result.sum;
  stream.addend.reset();
  if (stream.record) stream.record->residuals.push_back(stream.x);
  note_norm(stream.record, result.norm);
  return result.norm;
}

ResidualStream AddAndNorm::operator()(Tape& tape, ResidualStream stream, const LayerNorm& norm,
                                      FunctionRef<Var(Var)> sublayer) const {
  const bool is_pre = position == NormPosition::pre;
  const Var y = sublayer(is_pre ? normalized(tape, stream, norm) : stream.x);
  if (stream.record) {
    stream.record->sublayers.push_back(copy(tape, y));  // the norm takes the memory of y
    stream.record->results.push_back(y);
  }
  if (is_pre && residual) {
    stream.addend = y;
    return stream;
  }
  stream.x = joined(tape, stream.x, y, norm);
  if (position == NormPosition::post) note_norm(stream.record, stream.x);
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
