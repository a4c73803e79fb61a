#include "text/tokenizer.h"

#include <sentencepiece_processor.h>

#include <exception>
#include <utility>

#include "tensor/check.h"
#include "text/charsmap.h"
#include "text/utf8.h"

// Of SentencePiece's library, but in none of its public headers.
namespace sentencepiece::logging {
void SetMinLogLevel(int level);
}

namespace wasmformer {
namespace {

constexpr int log_errors_only = 2;

// SentencePiece answers with a status, but the libraries below it may throw.
bool load(sentencepiece::SentencePieceProcessor& processor, const std::string& model) {
  [[maybe_unused]] static const bool quiet = (sentencepiece::logging::SetMinLogLevel(log_errors_only), true);
  try {
    return rules_are_sound(model) && processor.LoadFromSerializedProto(model).ok() &&
           processor.GetPieceSize() > 0;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

Tokenizer::Tokenizer(std::string model)
    : model_(std::move(model)), processor_(std::make_unique<sentencepiece::SentencePieceProcessor>()) {
  WASMFORMER_CHECK(load(*processor_, model_),
                   "[tokenizer] these " << model_.size() << " bytes are not a SentencePiece model");
  for (int id = 0; id < processor_->GetPieceSize(); ++id) {
    WASMFORMER_CHECK(is_utf8(processor_->IdToPiece(id)),
                     "[tokenizer] piece " << id << " of the model is not UTF-8");
  }
}

Tokenizer::~Tokenizer() = default;
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;

std::vector<TokenId> Tokenizer::encode(std::string_view text) const {
  WASMFORMER_CHECK(is_utf8(text), "[tokenizer] the text is not UTF-8");
  std::vector<TokenId> ids;
  const auto status = processor_->Encode({text.data(), text.size()}, &ids);
  WASMFORMER_CHECK(status.ok(), "[tokenizer] cannot encode: " << status.ToString());
  return ids;
}

std::string Tokenizer::decode(const std::vector<TokenId>& ids) const {
  for (const TokenId id : ids) check_id(id);
  std::string text;
  const auto status = processor_->Decode(ids, &text);
  WASMFORMER_CHECK(status.ok(), "[tokenizer] cannot decode: " << status.ToString());
  return text;
}

std::string Tokenizer::piece(TokenId id) const {
  check_id(id);
  return processor_->IdToPiece(id);
}

Index Tokenizer::vocab_size() const { return processor_->GetPieceSize(); }
TokenId Tokenizer::unk_id() const { return processor_->unk_id(); }
TokenId Tokenizer::pad_id() const { return processor_->pad_id(); }
TokenId Tokenizer::bos_id() const { return processor_->bos_id(); }
TokenId Tokenizer::eos_id() const { return processor_->eos_id(); }

void Tokenizer::check_id(TokenId id) const {
  WASMFORMER_CHECK(id >= 0 && id < vocab_size(),
                   "[tokenizer] id " << id << " is outside the vocabulary of " << vocab_size() << " pieces");
}

}  // namespace wasmformer
