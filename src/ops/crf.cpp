#include "ops/crf.h"

#include <cmath>

namespace wasmformer {
namespace {

// The forward and backward recursions. Each word's probabilities are scaled to a sum of 1, so that none underflows.
struct Chain {
  const Matrix& transitions;  // exponentials
  Matrix scores;              // exponentials, after subtracting the largest of each word
  Matrix before, after;       // [words, tags], scaled: of the words up to this one, and of those after it
  double log_sum = 0;         // log of the summed exponentials of all sequences' scores

  Chain(ConstView s, const Matrix& t) : transitions(t), scores(s), before(scores), after(scores) {
    const Index n = s.rows(), tags = s.cols();
    for (Index i = 0; i < n; ++i) {
      Scalar max = s(i, 0), sum = 0;
      for (Index b = 0; b < tags; ++b) max = std::max(max, s(i, b)), before(i, b) = i == 0 ? 1 : 0;
      for (Index a = 0; i > 0 && a < tags; ++a)
        for (Index b = 0; b < tags; ++b) before(i, b) += before(i - 1, a) * transitions(a, b);
      for (Index b = 0; b < tags; ++b) {
        scores(i, b) = std::exp(s(i, b) - max);
        sum += before(i, b) *= scores(i, b);
      }
      for (Index b = 0; b < tags; ++b) before(i, b) /= sum, scores(i, b) /= sum;
      log_sum += std::log(static_cast<double>(sum)) + static_cast<double>(max);
    }
    for (Index i = n - 1; i >= 0; --i)
      for (Index a = 0; a < tags; ++a) {
        after(i, a) = i == n - 1 ? 1 : 0;
        for (Index b = 0; i < n - 1 && b < tags; ++b) after(i, a) += pair(i, a, b);
      }
  }

  Scalar probability(Index word, Index tag) const { return before(word, tag) * after(word, tag); }
  // The weight of the sequences after `word`, given its tag a and the next tag b.
  Scalar pair(Index word, Index a, Index b) const {
    return transitions(a, b) * scores(word + 1, b) * after(word + 1, b);
  }
};

Matrix exponentials(ConstView transitions) {
  Matrix result = transitions;
  for (Scalar& x : result.reshaped<Eigen::RowMajor>()) x = std::exp(x);
  return result;
}

}  // namespace

Matrix crf_probabilities(ConstView scores, ConstView transitions) {
  const Matrix factors = exponentials(transitions);
  const Chain chain(scores, factors);
  Matrix result = scores;
  for (Index i = 0; i < scores.rows(); ++i)
    for (Index tag = 0; tag < scores.cols(); ++tag) result(i, tag) = chain.probability(i, tag);
  return result;
}

CrossEntropy crf_loss(Tape& tape, Var scores, Parameter& transitions, std::span<const TokenId> targets,
                      std::span<const Span> spans, double total) {
  const Index n = scores.rows(), tags = scores.cols();
  WASMFORMER_CHECK(
      n == static_cast<Index>(targets.size()) && n > 0 && transitions.rows == tags && transitions.cols == tags,
      ErrorCode::crf_loss,
      "scores " << shape(scores) << ", " << targets.size() << " targets and transitions [" << transitions.rows << ", "
                << transitions.cols << "]");
  const double count = total == 0 ? static_cast<double>(n) : total;
  const bool recorded = tape.recording() && scores.wants_gradient();
  Var gradient = tape.variable(n, tags, false);  // with respect to the scores
  const Matrix factors = exponentials(transitions.view());
  Matrix of_transitions = Matrix::Zero(tags, tags);
  double loss = 0;
  for (const Span& span : spans) {
    if (span.size == 0) continue;
    const ConstView own(scores.value().data() + span.begin * tags, span.size, tags);
    const Chain chain(own, factors);
    loss += chain.log_sum;
    for (Index i = 0; recorded && i < span.size; ++i)
      for (Index a = 0; a < tags; ++a) {
        gradient.mutable_value()(span.begin + i, a) = chain.probability(i, a);
        for (Index b = 0; i + 1 < span.size && b < tags; ++b)
          of_transitions(a, b) += chain.before(i, a) * chain.pair(i, a, b);
      }
    for (Index i = 0; i < span.size; ++i) {
      const TokenId tag = targets[span.begin + i];
      WASMFORMER_CHECK(tag >= 0 && tag < tags, ErrorCode::crf_loss, "target " << tag << " is not below " << tags);
      loss -= static_cast<double>(own(i, tag));
      if (recorded) gradient.mutable_value()(span.begin + i, tag) -= 1;
      if (i == 0) continue;
      const TokenId before = targets[span.begin + i - 1];
      loss -= static_cast<double>(transitions.value(before, tag));
      of_transitions(before, tag) -= 1;
    }
  }
  Var result = tape.variable(1, 1, recorded);
  result.mutable_value()(0, 0) = static_cast<Scalar>(loss / count);
  if (recorded) {
    Var kept = tape.variable(tags, tags, false);
    kept.mutable_value() = of_transitions;
    tape.record(result, [&tape, &transitions, scores, gradient, kept, count](ConstView upstream) {
      const auto share = static_cast<Scalar>(static_cast<double>(upstream(0, 0)) / count);
      tape.add_gradient(scores, gradient.value() * share);
      if (transitions.wants_gradient()) transitions.gradient += kept.value() * share;
    });
  }
  return {result, loss / count};
}

}  // namespace wasmformer
