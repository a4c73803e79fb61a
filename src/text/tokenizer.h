// Sub-word tokens by SentencePiece. Any .model file made by spm_train gives the ids that spm_encode gives.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/matrix.h"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace wasmformer {

class Tokenizer {
 public:
  // `model`: the bytes of a SentencePiece .model file. Throws Error when they are not one.
  explicit Tokenizer(std::string model);
  ~Tokenizer();
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;

  // No begin or end token is added. Throws Error when `text` is not UTF-8.
  std::vector<TokenId> encode(std::string_view text) const;
  // Control tokens (pad, begin, end) print as nothing. Throws Error when an id is not in [0, vocab_size()).
  std::string decode(const std::vector<TokenId>& ids) const;
  // Throws Error when `id` is not in [0, vocab_size()).
  std::string piece(TokenId id) const;

  Index vocab_size() const;
  TokenId unk_id() const;
  // -1 where the model file defines none.
  TokenId pad_id() const;
  TokenId bos_id() const;
  TokenId eos_id() const;

  // The bytes it was made from, as stored in a model file.
  const std::string& model() const { return model_; }

 private:
  void check_id(TokenId id) const;

  std::string model_;
  std::unique_ptr<sentencepiece::SentencePieceProcessor> processor_;
};

}  // namespace wasmformer
