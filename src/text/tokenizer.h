// Sub-word tokens by SentencePiece. Any .model file made by spm_train gives the ids that spm_encode gives,
// or, with a vocabulary beside it, as Marian has, the ids that its pieces have there.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tensor/matrix.h"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace wasmformer {

class Tokenizer {
 public:
  // `model`: the bytes of a SentencePiece .model file. `vocabulary`: pieces by id, which may lack pieces of
  // the model and have others; it names its special tokens <unk>, </s> and <pad>, of which only the last may
  // be missing. Empty: the model's own ids. Throws Error when either is not what it should be.
  explicit Tokenizer(std::string model, std::vector<std::string> vocabulary = {});
  ~Tokenizer();
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;

  // No begin or end token is added. With a vocabulary, a leading >>language<< that it has is that token.
  // Throws Error when `text` is not UTF-8.
  std::vector<TokenId> encode(std::string_view text) const;
  // Control tokens (pad, begin, end; with a vocabulary <unk> too) print as nothing. Throws Error when an id
  // is not in [0, vocab_size()).
  std::string decode(const std::vector<TokenId>& ids) const;
  // Throws Error when `id` is not in [0, vocab_size()).
  std::string piece(TokenId id) const;

  Index vocab_size() const;
  TokenId unk_id() const;
  // -1 where the model file or the vocabulary defines none; a vocabulary has no begin token.
  TokenId pad_id() const;
  TokenId bos_id() const;
  TokenId eos_id() const;

  // What it was made from, as stored in a model file.
  const std::string& model() const { return model_; }
  const std::vector<std::string>& vocabulary() const { return vocabulary_; }
  bool operator==(const Tokenizer& other) const {
    return model_ == other.model_ && vocabulary_ == other.vocabulary_;
  }

 private:
  void check_id(TokenId id) const;

  TokenId find(std::string_view piece) const;  // in the vocabulary; -1 where it has none
  std::vector<TokenId> encode_by_name(std::string_view text) const;
  std::string decode_by_name(const std::vector<TokenId>& ids) const;

  std::string model_;
  std::vector<std::string> vocabulary_;
  std::unordered_map<std::string, TokenId> ids_;  // of the vocabulary
  std::unique_ptr<sentencepiece::SentencePieceProcessor> processor_;
};

}  // namespace wasmformer
