#include "tasks/annotate/word_learning.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "tensor/function_ref.h"
#include "tensor/random.h"

namespace wasmformer {
namespace {

struct WordExample {
  std::vector<std::uint32_t> features;  // hashes, then the numbers of those that have weights
  std::vector<Index> classes;
};

// The places of these names among the sorted ones, but for unknown names.
std::vector<Index> places(const Labels& names, const std::vector<std::string>& sorted) {
  std::vector<Index> found;
  for (const std::string& name : names) {
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), name);
    if (at != sorted.end() && *at == name) found.push_back(at - sorted.begin());
  }
  return found;
}

// Adds what is learned from one text.
using AddExamples = FunctionRef<void(const AnnotatedText&, std::vector<WordExample>&)>;

// Examples from texts drawn at random: as many as one pass within the limit allows.
std::vector<WordExample> draw_examples(const std::vector<AnnotatedText>& texts, Index classes,
                                       const WordLearning& learning, AddExamples add) {
  std::vector<std::size_t> order(texts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random(learning.seed).shuffle(order);
  std::int64_t left = learning.max_sums / classes;
  std::vector<WordExample> examples;
  for (const std::size_t i : order) {
    std::size_t known = examples.size();
    add(texts[i], examples);
    for (; known < examples.size(); ++known) left -= static_cast<std::int64_t>(examples[known].features.size());
    if (left < 0) break;
  }
  return examples;
}

// The features of `least` examples at least, the most frequent ones if there are too many; ascending.
std::vector<std::uint32_t> frequent_features(const std::vector<WordExample>& examples, Index least, Index most) {
  std::unordered_map<std::uint32_t, Index> counts;
  for (const WordExample& example : examples)
    for (const std::uint32_t feature : example.features) ++counts[feature];
  std::vector<std::pair<Index, std::uint32_t>> found;
  for (const auto& [feature, count] : counts)
    if (count >= least) found.emplace_back(-count, feature);
  std::sort(found.begin(), found.end());
  found.resize(std::min(found.size(), static_cast<std::size_t>(most)));
  std::vector<std::uint32_t> features;
  for (const auto& [count, feature] : found) features.push_back(feature);
  std::sort(features.begin(), features.end());
  return features;
}

// Replaces hashes by their places among `features`; others are dropped.
void number_features(std::vector<WordExample>& examples, const std::vector<std::uint32_t>& features) {
  for (WordExample& example : examples) {
    std::vector<std::uint32_t> numbers;
    for (auto from = features.begin(); const std::uint32_t feature : example.features) {
      from = std::lower_bound(from, features.end(), feature);
      if (from == features.end()) break;
      if (*from == feature) numbers.push_back(static_cast<std::uint32_t>(from - features.begin()));
    }
    example.features = std::move(numbers);
  }
}

class WordLearner {
 public:
  WordLearner(Index features, Index classes, const WordLearning& learning)
      : learning_(learning),
        weights_(Matrix::Zero(features, classes)),
        squares_(Matrix::Constant(features, classes, Scalar(1e-8))),
        class_weights_(Matrix::Ones(1, classes)) {}

  // Weights inversely proportional to how often each class occurs, 1 on average over the examples.
  void balance(const std::vector<WordExample>& examples) {
    Matrix counts = Matrix::Zero(1, weights_.cols());
    for (const WordExample& example : examples)
      for (const Index c : example.classes) ++counts(0, c);
    class_weights_ = counts.sum() / static_cast<Scalar>(counts.cols()) / counts.array().max(Scalar(1));
  }

  void learn(const WordExample& example) {
    if (example.features.empty()) return;
    const Scalar share = 1 / std::sqrt(static_cast<Scalar>(example.features.size()));
    Matrix scores = Matrix::Zero(1, weights_.cols());
    for (const std::uint32_t feature : example.features) scores += weights_.row(feature);
    const Matrix gradient = gradient_of_scores(scores * share, example.classes) * share;
    const auto decay = static_cast<Scalar>(learning_.weight_decay), rate = static_cast<Scalar>(learning_.learning_rate);
    for (const std::uint32_t feature : example.features) {
      auto weights = weights_.row(feature).array(), squares = squares_.row(feature).array();
      const auto total = gradient.row(0).array() + decay * weights;
      squares += total.square();
      weights -= rate * total / squares.sqrt();
    }
  }

  const Matrix& weights() const { return weights_; }

 private:
  // Gradient of cross-entropy: probabilities minus the true ones, times the weight of the class.
  Matrix gradient_of_scores(const Matrix& scores, const std::vector<Index>& classes) const {
    Matrix p;
    if (learning_.multi_label) {
      p = 1 / (1 + (-scores.array()).exp());
    } else {
      p = (scores.array() - scores.maxCoeff()).exp();
      p /= p.sum();
    }
    for (const Index c : classes) p(0, c) -= 1;
    if (!learning_.multi_label) p *= class_weights_(0, classes[0]);
    return p;
  }

  const WordLearning& learning_;
  Matrix weights_, squares_;  // [features, classes]; sums of squared gradients
  Matrix class_weights_;
};

WordScores learn(std::vector<WordExample> examples, Index classes, const WordLearning& learning) {
  WordScores result;
  const Index most = std::min(learning.max_features, learning.max_weights / classes);
  result.features = frequent_features(examples, learning.least_texts, most);
  number_features(examples, result.features);
  std::int64_t sums = classes;
  for (const WordExample& example : examples) sums += classes * static_cast<Index>(example.features.size());
  const Index passes = std::clamp<Index>(static_cast<Index>(learning.max_sums / sums), 1, learning.passes);

  WordLearning own = learning;
  constexpr double most_decay = 1e-3;
  const auto count = static_cast<double>(std::max<std::size_t>(examples.size(), 1));
  if (own.total_decay > 0) own.weight_decay = std::min(most_decay, own.total_decay / count);
  WordLearner learner(static_cast<Index>(result.features.size()), classes, own);
  if (learning.balance_classes) learner.balance(examples);
  Random random(mix(learning.seed));
  for (Index pass = 0; pass < passes; ++pass) {
    random.shuffle(examples);
    for (const WordExample& example : examples) learner.learn(example);
  }
  const Matrix by_class = learner.weights().transpose();
  result.weights = quantize(ConstView(by_class.data(), by_class.rows(), by_class.cols()));
  return result;
}

}  // namespace

WordScores learn_word_scores(const std::vector<AnnotatedText>& texts, const std::vector<std::string>& classes,
                             const WordLearning& learning) {
  const auto count = static_cast<Index>(classes.size());
  const auto add = [&](const AnnotatedText& text, std::vector<WordExample>& examples) {
    std::vector<Index> known = places(text.classes, classes);
    if (known.size() == text.classes.size()) examples.push_back({word_features(text.text), std::move(known)});
  };
  return learn(draw_examples(texts, count, learning, add), count, learning);
}

WordScores learn_tag_scores(const std::vector<AnnotatedText>& texts, const std::vector<std::string>& tags,
                            const WordLearning& learning) {
  const auto count = static_cast<Index>(tags.size());
  const auto add = [&](const AnnotatedText& text, std::vector<WordExample>& examples) {
    const std::vector<std::string_view> words(text.words.begin(), text.words.end());
    std::vector<std::vector<std::uint32_t>> features = context_features(words);
    for (std::size_t i = 0; i < words.size(); ++i) {
      std::vector<Index> known = places({text.tags[i]}, tags);
      if (!known.empty()) examples.push_back({std::move(features[i]), std::move(known)});
    }
  };
  return learn(draw_examples(texts, count, learning, add), count, learning);
}

}  // namespace wasmformer
