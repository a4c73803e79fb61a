// Learns the weights of words and pairs of words that help an encoder (text/word_scores.h).
#pragma once

#include "tasks/annotate/labels.h"
#include "text/word_scores.h"

namespace wasmformer {

// Settings of the learning. Features of one text only get no weight: they are many and say little.
struct WordLearning {
  Index least_texts = 2;  // a feature in fewer texts, or with fewer words for tags, gets no weight
  bool multi_label = false;
  bool balance_classes = false;
  std::uint64_t seed = 1;
  double learning_rate = 0.2;
  double weight_decay = 1e-4;  // per example
  double total_decay = 0;      // if not 0, replaces it: the decay of a whole pass, divided among its examples
  Index passes = 12;
  // Limits, which only large corpora reach: of the weights' number, which decides the size of the model's file, of the
  // features, and of sums, which decide the time.
  Index max_weights = Index{1} << 21;
  Index max_features = Index{1} << 17;
  std::int64_t max_sums = std::int64_t{1} << 31;
};

// Logistic regression by AdaGrad (Duchi et al. 2011), text by text. `classes`: the sorted names; a text with another
// class is left out.
WordScores learn_word_scores(const std::vector<AnnotatedText>& texts, const std::vector<std::string>& classes,
                             const WordLearning& learning = {});
// The same for the tags of words, each by itself.
inline constexpr WordLearning tag_learning{
    .learning_rate = 0.2, .total_decay = 64, .passes = 4, .max_features = Index{1} << 16};
WordScores learn_tag_scores(const std::vector<AnnotatedText>& texts, const std::vector<std::string>& tags,
                            const WordLearning& learning = tag_learning);

}  // namespace wasmformer
