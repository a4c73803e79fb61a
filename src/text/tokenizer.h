// Subword tokens by SentencePiece, or by BERT's rules (text/wordpiece.h). The ids are those of spm_encode or, with a
// separate vocabulary as in Marian, the ids that the pieces have there.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tensor/matrix.h"
#include "text/byte_pieces.h"
#include "text/wordpiece.h"

namespace wasmformer {

class Tokenizer {
 public:
  // `model`: the bytes of a SentencePiece .model file. `vocabulary`: pieces by id, which may differ from
  // those of the model; its special tokens are <unk>, </s> and, optionally, <pad>. If it is empty, the
  // model's own ids are used. Throws Error if either is invalid.
  explicit Tokenizer(std::string model, std::vector<std::string> vocabulary = {});
  ~Tokenizer();
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;

  // Adds no begin or end token. With a vocabulary, a leading >>language<< becomes that token if it exists.
  // Throws Error if `text` is not UTF-8.
  std::vector<TokenId> encode(std::string_view text) const;
  // Skips control tokens (pad, begin, end; with a vocabulary <unk> too). Throws Error if an id is not in
  // [0, vocab_size()).
  std::string decode(const std::vector<TokenId>& ids) const;
  // Throws Error if `id` is not in [0, vocab_size()).
  std::string piece(TokenId id) const;

  Index vocab_size() const;
  std::unordered_map<std::string, TokenId> ids() const;  // by piece
  // The piece that stands for itself; none for one that is unknown.
  std::optional<TokenId> find_piece(std::string_view piece) const;
  // Returns whether any piece is spelled with this character. Bytes and control pieces do not count.
  bool has_character(char32_t c) const;
  TokenId unk_id() const;
  // -1 if the model file or the vocabulary has none; a vocabulary has no begin token.
  TokenId pad_id() const;
  TokenId bos_id() const;
  TokenId eos_id() const;

  // None without byte_fallback.
  const BytePieces& byte_pieces() const { return byte_pieces_; }

  // The rules of BERT's tokenizer, if it is one.
  const std::optional<WordPieceRules>& wordpiece() const;

  // Arguments of the constructor.
  const std::string& model() const { return model_; }
  const std::vector<std::string>& vocabulary() const { return vocabulary_; }
  bool operator==(const Tokenizer& other) const { return model_ == other.model_ && vocabulary_ == other.vocabulary_; }

 private:
  void check_id(TokenId id) const;

  void find_byte_pieces();
  TokenId find(std::string_view piece) const;  // its id in the vocabulary, or -1
  std::vector<TokenId> encode_by_name(std::string_view text) const;
  std::string decode_by_name(const std::vector<TokenId>& ids) const;

  std::string model_;
  std::vector<std::string> vocabulary_;
  std::unordered_map<std::string, TokenId> ids_;  // ids of the vocabulary's pieces
  BytePieces byte_pieces_;
  struct Processor;
  std::unique_ptr<Processor> processor_;
};

}  // namespace wasmformer
