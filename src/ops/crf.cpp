#include "ops/crf.h"

#include <cmath>

namespace wasmformer {
namespace {

// The forward and backward recursions. Each word's probabilities are scaled to a sum of 1, so that none underflows.
struct Chain {
  Matrix scores, transitions;  // exponentials of both, after subtracting the largest: of each word, and of all
  Matrix before, after;        // [words, tags], scaled: of the words up to this one, and of those behind it
  Matrix next;                 // row i + 1: what `after` of word i is made of
  double log_sum;              // of the exponentials of the scores of all sequences

  Chain(ConstView s, ConstView t) : scores(s), before(s.rows(), s.cols()), after(s.rows(), s.cols()), next(s) {
    const Index n = s.rows();
    const Scalar most = t.maxCoeff();
    transitions = (t.array() - most).exp();
    log_sum = static_cast<double>(n - 1) * static_cast<double>(most);
    Eigen::Array<double, Eigen::Dynamic, 1> scale(n);
    for (Index i = 0; i < n; ++i) {
      const Scalar max = s.row(i).maxCoeff();
      scores.row(i) = (s.row(i).array() - max).exp();
      before.row(i) = scores.row(i);
      if (i > 0) before.row(i).array() *= before.row(i - 1).lazyProduct(transitions).array();
      scale[i] = static_cast<double>(before.row(i).sum());
      before.row(i) /= static_cast<Scalar>(scale[i]);
      log_sum += std::log(scale[i]) + static_cast<double>(max);
    }
    after.row(n - 1).setOnes();
    for (Index i = n - 1; i > 0; --i) {
      next.row(i) = scores.row(i).cwiseProduct(after.row(i)) / static_cast<Scalar>(scale[i]);
      after.row(i - 1) = next.row(i).lazyProduct(transitions.transpose());
    }
  }

  Matrix probabilities() const { return before.cwiseProduct(after); }
  // Of each two tags as neighbours, summed over the sentence.
  Matrix pairs() const {
    const Index rest = before.rows() - 1;
    return transitions.cwiseProduct(before.topRows(rest).transpose().lazyProduct(next.bottomRows(rest)));
  }
};

}  // namespace

Matrix crf_probabilities(ConstView scores, ConstView transitions) { return Chain(scores, transitions).probabilities(); }

CrossEntropy crf_loss(Tape& tape, Var scores, Parameter& transitions, std::span<const TokenId> targets,
                      std::span<const Span> spans, double total) {
  const Index n = scores.rows(), tags = scores.cols();
  WASMFORMER_CHECK(
      n == static_cast<Index>(targets.size()) && n > 0 && transitions.rows == tags && transitions.cols == tags,
      "[crf_loss] scores " << shape(scores) << ", " << targets.size() << " targets and transitions ["
                           << transitions.rows << ", " << transitions.cols << "]");
  const double count = total == 0 ? static_cast<double>(n) : total;
  const bool recorded = tape.recording() && scores.wants_gradient();
  Var gradient = tape.variable(n, tags, false);  // of the scores
  Matrix of_transitions = Matrix::Zero(tags, tags);
  double loss = 0;
  for (const Span& span : spans) {
    if (span.size == 0) continue;
    const ConstView own(scores.value().data() + span.begin * tags, span.size, tags);
    const Chain chain(own, transitions.view());
    loss += chain.log_sum;
    if (recorded) {
      gradient.mutable_value().middleRows(span.begin, span.size) = chain.probabilities();
      of_transitions += chain.pairs();
    }
    for (Index i = 0; i < span.size; ++i) {
      const TokenId tag = targets[span.begin + i];
      WASMFORMER_CHECK(tag >= 0 && tag < tags, "[crf_loss] target " << tag << " is not below " << tags);
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
