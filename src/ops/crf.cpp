#include "ops/crf.h"

#include <cmath>

namespace wasmformer {
namespace {

// The forward–backward algorithm (Rabiner 1989, section III.A) on one sentence of n words, in exponentials. With
// T(a, b) = exp(transition from a to b) and ψ(i, b) = exp(score of tag b for word i):
//   α(0, b) = ψ(0, b)        α(i, b) = ψ(i, b) Σ_a α(i - 1, a) T(a, b)          of the words up to i
//   β(n - 1, a) = 1          β(i, a) = Σ_b T(a, b) ψ(i + 1, b) β(i + 1, b)      of the words after i
// So that none of them underflows, ψ(i, ·) is divided by its largest value and then by the sum of α(i, ·), which leaves
// Σ_b α(i, b) = 1 and Σ_b α(i, b) β(i, b) = 1.
struct ForwardBackward {
  const Matrix& transitions;  // T, [tags, tags]
  Matrix emissions;           // ψ, scaled, [words, tags]
  Matrix alpha, beta;         // [words, tags]
  double log_partition = 0;   // log of the summed exponentials of all sequences' scores

  ForwardBackward(ConstView scores, const Matrix& t)
      : transitions(t),
        emissions(scores.rows(), scores.cols()),
        alpha(scores.rows(), scores.cols()),
        beta(scores.rows(), scores.cols()) {
    for (Index i = 0; i < scores.rows(); ++i) forward(scores, i);
    for (Index i = scores.rows() - 1; i >= 0; --i) backward(i);
  }

  // p(the tag of `word` is `tag`).
  Scalar probability(Index word, Index tag) const { return alpha(word, tag) * beta(word, tag); }
  // p(the tag of `word` is a and that of the next word is b).
  Scalar pair_probability(Index word, Index a, Index b) const { return alpha(word, a) * onward(word, a, b); }

 private:
  // Row i of α and ψ, from row i - 1 of α.
  void forward(ConstView scores, Index i) {
    const Index tags = scores.cols();
    Scalar max = scores(i, 0);
    for (Index b = 0; b < tags; ++b) max = std::max(max, scores(i, b));
    // Σ_a α(i - 1, a) T(a, b), or 1 before the first word.
    for (Index b = 0; b < tags; ++b) alpha(i, b) = i == 0 ? 1 : 0;
    if (i > 0) {
      for (Index a = 0; a < tags; ++a) {
        for (Index b = 0; b < tags; ++b) alpha(i, b) += alpha(i - 1, a) * transitions(a, b);
      }
    }
    Scalar sum = 0;
    for (Index b = 0; b < tags; ++b) {
      emissions(i, b) = std::exp(scores(i, b) - max);
      alpha(i, b) *= emissions(i, b);
      sum += alpha(i, b);
    }
    for (Index b = 0; b < tags; ++b) {
      alpha(i, b) /= sum;
      emissions(i, b) /= sum;
    }
    log_partition += std::log(static_cast<double>(sum)) + static_cast<double>(max);
  }

  // Row i of β, from row i + 1.
  void backward(Index i) {
    const Index tags = beta.cols();
    const bool is_last = i == beta.rows() - 1;
    for (Index a = 0; a < tags; ++a) {
      beta(i, a) = is_last ? 1 : 0;
      if (is_last) continue;
      for (Index b = 0; b < tags; ++b) beta(i, a) += onward(i, a, b);
    }
  }

  // T(a, b) ψ(i + 1, b) β(i + 1, b).
  Scalar onward(Index i, Index a, Index b) const { return transitions(a, b) * emissions(i + 1, b) * beta(i + 1, b); }
};

Matrix exponentials(ConstView transitions) {
  Matrix result = transitions;
  for (Scalar& x : result.reshaped<Eigen::RowMajor>()) x = std::exp(x);
  return result;
}

}  // namespace

Matrix crf_probabilities(ConstView scores, ConstView transitions) {
  const Matrix factors = exponentials(transitions);
  const ForwardBackward recursions(scores, factors);
  Matrix result = scores;
  for (Index i = 0; i < scores.rows(); ++i) {
    for (Index tag = 0; tag < scores.cols(); ++tag) result(i, tag) = recursions.probability(i, tag);
  }
  return result;
}

namespace {

// The gradient of -log p(tags of one sentence) is what the model expects minus what is there. Adds the expectations:
// to `of_scores`, rows from `begin` on, the probability of each tag; to `of_transitions` that of each pair.
void add_expectations(const ForwardBackward& recursions, Index begin, View of_scores, Matrix& of_transitions) {
  const Index words = recursions.alpha.rows(), tags = recursions.alpha.cols();
  for (Index i = 0; i < words; ++i) {
    for (Index a = 0; a < tags; ++a) {
      of_scores(begin + i, a) = recursions.probability(i, a);
      if (i + 1 == words) continue;
      for (Index b = 0; b < tags; ++b) of_transitions(a, b) += recursions.pair_probability(i, a, b);
    }
  }
}

// Takes off what is there: the tags of the sentence whose rows are from `begin` on.
void subtract_tags(std::span<const TokenId> tags, Index begin, View of_scores, Matrix& of_transitions) {
  for (std::size_t i = 0; i < tags.size(); ++i) {
    of_scores(begin + static_cast<Index>(i), tags[i]) -= 1;
    if (i > 0) of_transitions(tags[i - 1], tags[i]) -= 1;
  }
}

}  // namespace

CrossEntropy crf_loss(Tape& tape, Var scores, const Parameter& transitions, std::span<const TokenId> targets,
                      std::span<const Span> spans, double total) {
  const Index n = scores.rows(), tags = scores.cols();
  WASMFORMER_CHECK(
      n == static_cast<Index>(targets.size()) && n > 0 && transitions.rows == tags && transitions.cols == tags,
      ErrorCode::crf_loss,
      "scores " << shape(scores) << ", " << targets.size() << " targets and transitions [" << transitions.rows << ", "
                << transitions.cols << "]");
  for (const TokenId tag : targets)
    WASMFORMER_CHECK(tag >= 0 && tag < tags, ErrorCode::crf_loss, "target " << tag << " is not below " << tags);
  const double count = total == 0 ? static_cast<double>(n) : total;
  const bool recorded = tape.recording() && scores.wants_gradient();
  Var gradient = tape.variable(n, tags, false);  // with respect to the scores
  const Matrix factors = exponentials(transitions.view());
  Matrix of_transitions = Matrix::Zero(tags, tags);
  double loss = 0;
  for (const Span& span : spans) {
    if (span.size == 0) continue;
    const ConstView sentence(scores.value().data() + span.begin * tags, span.size, tags);
    const auto sentence_tags = targets.subspan(span.begin, span.size);
    const ForwardBackward recursions(sentence, factors);
    // -log p = log Z - (the score of the targets)
    loss += recursions.log_partition;
    for (Index i = 0; i < span.size; ++i) {
      loss -= static_cast<double>(sentence(i, sentence_tags[i]));
      if (i > 0) loss -= static_cast<double>(transitions.value(sentence_tags[i - 1], sentence_tags[i]));
    }
    if (!recorded) continue;
    add_expectations(recursions, span.begin, gradient.mutable_value(), of_transitions);
    subtract_tags(sentence_tags, span.begin, gradient.mutable_value(), of_transitions);
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
