// A linear classifier of texts on their words and pairs of neighboring words, or of words on their spelling and
// neighbors, to help an encoder: it learns much from few texts, and unknown words cannot mislead it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tensor/int8_matrix.h"

namespace wasmformer {

struct WordScores {
  std::vector<std::uint32_t> features;  // features of word_features() or context_features() with weights, ascending
  Int8Matrix weights;                   // [classes, features]

  // Throws Error unless the features ascend and there is a weight for each of them and each class.
  void check(Index classes) const;

  // Adds the weights of those features that are known, and divides by the square root of how many they are: [1,
  // classes]. `found` must ascend.
  Matrix scores(std::span<const std::uint32_t> found) const;
};

// Mix of an encoder's scores and those of WordScores, for the classes of a text and the tags of its words.
struct ScoreMix {
  Scalar class_share = Scalar(0.5);  // share of WordScores; the encoder has the rest
  Scalar tag_share = Scalar(0.5);    // likewise
  Scalar outside_score = 0;  // added to the score of the tag O, so that spans are not found too rarely or too often
  bool operator==(const ScoreMix&) const = default;
};

// Lists of features are ascending hashes, without repetitions. Both throw Error for text that is not UTF-8.

// A feature for each word of a text, and for each pair of neighbors. Words are in lower case; a Chinese character
// is a word, as is any sign and a mark such as <e1>.
std::vector<std::uint32_t> word_features(std::string_view text);

// The features of each word: itself, its first and last letters, its length and its shape, such as "Aa" of "Rome", the
// neighboring words and their shapes, and pairs of these.
std::vector<std::vector<std::uint32_t>> context_features(std::span<const std::string_view> words);

}  // namespace wasmformer
