// Subword regularization: in training, pieces are split at random, so that a model also knows the parts of words.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "tensor/random.h"
#include "text/tokenizer.h"

namespace wasmformer {

// BPE-dropout (Provilkov et al. 2020): a piece is split with probability `rate` into two others of the vocabulary that
// spell it, and so are its parts.
class PieceSplitter {
 public:
  PieceSplitter(const Tokenizer& tokenizer, double rate);

  // Whether any piece consists of two others.
  bool can_split() const { return !parts_.empty(); }
  // Appends a piece to `result`, or its parts.
  void add(TokenId id, Random& random, std::vector<TokenId>& result) const;
  std::vector<TokenId> split(const std::vector<TokenId>& ids, Random& random) const;

 private:
  double rate_;
  std::unordered_map<TokenId, std::vector<std::pair<TokenId, TokenId>>> parts_;  // the pairs of pieces that spell it
};

}  // namespace wasmformer
