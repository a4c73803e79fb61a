#include "ops/weight_update.h"

#include <cmath>

namespace wasmformer {
namespace {

using Values = Eigen::Map<Eigen::Array<Scalar, Eigen::Dynamic, 1>>;

Values part(std::span<Scalar> values, Index begin, Index end) { return {values.data() + begin, end - begin}; }

// Calls body(begin, end) for parts of the arrays, several threads at a time.
template <class F>
void for_parts(ThreadPool& pool, const WeightUpdate& update, F&& body) {
  constexpr Index elements_per_chunk = 65536;
  pool.parallel_for(static_cast<Index>(update.weights.size()), elements_per_chunk, body);
}

}  // namespace

void adam_update(ThreadPool& pool, const WeightUpdate& update, const AdamStep& step) {
  const Scalar b1 = static_cast<Scalar>(step.beta1), b2 = static_cast<Scalar>(step.beta2);
  const Scalar epsilon = static_cast<Scalar>(step.epsilon);
  // The corrections for m and v, which began at zero, are the same for all elements.
  const Scalar step_size = static_cast<Scalar>(step.rate / (1 - std::pow(step.beta1, step.t)));
  const Scalar v_scale = static_cast<Scalar>(1 / (1 - std::pow(step.beta2, step.t)));
  for_parts(pool, update, [&](Index begin, Index end) {
    Values w = part(update.weights, begin, end), g = part(update.gradient, begin, end);
    Values m = part(update.mean, begin, end), v = part(update.variance, begin, end);
    g *= update.gradient_scale;
    m = b1 * m + (1 - b1) * g;
    v = b2 * v + (1 - b2) * g.square();
    w = update.keep * w - step_size * m / ((v * v_scale).sqrt() + epsilon);
    g.setZero();
  });
}

void sgd_update(ThreadPool& pool, const WeightUpdate& update, double rate, double momentum) {
  const Scalar b = static_cast<Scalar>(momentum), step_size = static_cast<Scalar>(rate);
  for_parts(pool, update, [&](Index begin, Index end) {
    Values w = part(update.weights, begin, end), g = part(update.gradient, begin, end);
    Values m = part(update.mean, begin, end);
    g *= update.gradient_scale;
    m = b * m + g;
    w = update.keep * w - step_size * m;
    g.setZero();
  });
}

}  // namespace wasmformer
