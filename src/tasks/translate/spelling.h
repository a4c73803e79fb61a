// Pieces that a search may choose next, so that byte pieces spell nothing but characters that the translation may
// contain: an automaton whose state is the bytes of a character that is not complete yet.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "ops/top_k.h"
#include "tensor/matrix.h"
#include "text/byte_pieces.h"
#include "text/unicode/scripts.h"

namespace wasmformer {

class Spelling {
 public:
  // The bytes of an incomplete character, the first one highest; 0 between characters.
  using State = std::uint32_t;
  static constexpr State between = 0;

  // `pieces` must outlive it. `scored`: the tokens that can be chosen, ascending; empty: all.
  Spelling(const BytePieces& pieces, CharacterSet characters, const std::vector<TokenId>& scored);

  // The state after a token that is chosen or forced. A forced one may break a character off.
  State after(State state, TokenId id) const;
  // Bytes that the character still needs.
  static Index missing(State state);
  // Allows the characters that complete `state` if none is allowed. Returns whether one can be spelled.
  bool complete(State state);

  // Returns whether these tokens may follow, with room for `room` more tokens, these included.
  bool allows(State state, std::span<const TokenScore> tokens, Index room) const;
  // Sets the scores of those that may not follow to -∞.
  void forbid(Eigen::Ref<RowVector> row, State state, Index room) const;

 private:
  bool allows_byte(State state, int byte, Index room) const;
  bool can_be_completed(State state) const;

  const BytePieces* pieces_;
  CharacterSet characters_;
  std::array<TokenId, 256> columns_;  // index of each byte's piece among the scored tokens, or BytePieces::none
};

}  // namespace wasmformer
