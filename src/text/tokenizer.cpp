#include "text/tokenizer.h"

#include <sentencepiece_model.pb.h>
#include <sentencepiece_processor.h>

#include <cstdio>
#include <exception>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "schema/error.h"
#include "text/normalizer.h"
#include "text/unicode/utf8.h"
#include "text/wordpiece.h"

// In SentencePiece's library, but not in its public headers.
namespace sentencepiece::logging {
void SetMinLogLevel(int level);
}

namespace wasmformer {
namespace {

constexpr int log_errors_only = 2;
constexpr const char *unk_piece = "<unk>", *eos_piece = "</s>", *pad_piece = "<pad>";  // of a vocabulary
constexpr std::string_view space_mark = "\xE2\x96\x81";

// SentencePiece returns a status, but the libraries below it may throw.
bool load(sentencepiece::SentencePieceProcessor& processor, const std::string& bytes) {
  static std::once_flag is_quiet;
  std::call_once(is_quiet, [] { sentencepiece::logging::SetMinLogLevel(log_errors_only); });
  try {
    auto model = std::make_unique<sentencepiece::ModelProto>();
    return model->ParseFromString(bytes) && rules_are_sound(*model) && processor.Load(std::move(model)).ok() &&
           processor.GetPieceSize() > 0;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

// Users of the header need not know SentencePiece.
struct Tokenizer::Processor : sentencepiece::SentencePieceProcessor {
  std::optional<WordPieceRules> wordpiece;
  std::once_flag has_characters;
  std::unordered_set<char32_t> characters;  // of all pieces
};

Tokenizer::Tokenizer(std::string model, std::vector<std::string> vocabulary)
    : model_(std::move(model)), vocabulary_(std::move(vocabulary)), processor_(std::make_unique<Processor>()) {
  WASMFORMER_CHECK(load(*processor_, model_), ErrorCode::not_sentencepiece,
                   "these " << model_.size() << " bytes are not a SentencePiece model", {"bytes", model_.size()});
  for (int id = 0; id < processor_->GetPieceSize(); ++id)
    WASMFORMER_CHECK(is_utf8(processor_->IdToPiece(id)), ErrorCode::tokenizer,
                     "piece " << id << " of the model is not UTF-8");
  processor_->wordpiece = wordpiece_rules(processor_->model_proto().normalizer_spec().name());
  for (const std::string& piece : vocabulary_) {
    const auto id = static_cast<TokenId>(ids_.size());
    WASMFORMER_CHECK(is_utf8(piece), ErrorCode::tokenizer, "piece " << id << " of the vocabulary is not UTF-8");
    const auto [place, is_new] = ids_.emplace(piece, id);
    WASMFORMER_CHECK(is_new, ErrorCode::tokenizer,
                     "the vocabulary has '" << piece << "' twice, as piece " << place->second << " and as " << id);
  }
  if (!vocabulary_.empty()) {
    for (const char* needed : {unk_piece, eos_piece})
      WASMFORMER_CHECK(find(needed) >= 0, ErrorCode::tokenizer, "the vocabulary has no piece " << needed);
  }
  find_byte_pieces();
}

// Pieces that decode() joins to characters.
void Tokenizer::find_byte_pieces() {
  for (int byte = 0; byte < 256; ++byte) {
    char name[sizeof "<0xFF>"];
    std::snprintf(name, sizeof name, "<0x%02X>", static_cast<unsigned>(byte));
    const TokenId in_model = processor_->PieceToId(name);
    if (!processor_->IsByte(in_model)) continue;
    const TokenId id = vocabulary_.empty() ? in_model : find(name);
    if (id >= 0) byte_pieces_.add(static_cast<std::uint8_t>(byte), id);
  }
}

Tokenizer::~Tokenizer() = default;
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;

std::vector<TokenId> Tokenizer::encode(std::string_view text) const {
  WASMFORMER_CHECK(is_utf8(text), ErrorCode::tokenizer, "the text is not UTF-8");
  if (!vocabulary_.empty()) return encode_by_name(text);
  std::vector<TokenId> ids;
  if (processor_->wordpiece) {
    const auto find = [this](std::string_view piece) {
      const TokenId id = processor_->PieceToId({piece.data(), piece.size()});
      return processor_->IsUnknown(id) || processor_->IsControl(id) ? -1 : id;
    };
    for (const std::string& word : wordpiece_words(text, *processor_->wordpiece))
      for (const TokenId id : wordpieces(word, unk_id(), find)) ids.push_back(id);
    return ids;
  }
  const auto status = processor_->Encode({text.data(), text.size()}, &ids);
  WASMFORMER_CHECK(status.ok(), ErrorCode::tokenizer, "cannot encode: " << status.ToString());
  return ids;
}

std::vector<TokenId> Tokenizer::encode_by_name(std::string_view text) const {
  std::vector<TokenId> ids;
  const std::size_t close = text.starts_with(">>") ? text.find("<<") : std::string_view::npos;
  if (close != std::string_view::npos) {
    const TokenId language = find(text.substr(0, close + 2));
    if (language >= 0) {
      ids.push_back(language);
      text.remove_prefix(close + 2);
    }
  }
  std::vector<std::string> pieces;
  const auto status = processor_->Encode({text.data(), text.size()}, &pieces);
  WASMFORMER_CHECK(status.ok(), ErrorCode::tokenizer, "cannot encode: " << status.ToString());
  for (const std::string& piece : pieces) {
    const TokenId id = find(piece);
    ids.push_back(id >= 0 ? id : unk_id());
  }
  return ids;
}

std::string Tokenizer::decode(const std::vector<TokenId>& ids) const {
  for (const TokenId id : ids) check_id(id);
  if (!vocabulary_.empty()) return decode_by_name(ids);
  std::string text;
  const auto status = processor_->Decode(ids, &text);
  WASMFORMER_CHECK(status.ok(), ErrorCode::tokenizer, "cannot decode: " << status.ToString());
  return text;
}

std::string Tokenizer::decode_by_name(const std::vector<TokenId>& ids) const {
  std::vector<std::string> pieces;
  for (const TokenId id : ids)
    if (id != pad_id() && id != eos_id() && id != unk_id()) pieces.push_back(piece(id));
  std::string joined;
  const auto status = processor_->Decode(pieces, &joined);
  WASMFORMER_CHECK(status.ok(), ErrorCode::tokenizer, "cannot decode: " << status.ToString());
  // Pieces unknown to the model are copied unchanged, including their space mark.
  std::string text;
  for (std::size_t i = 0; i < joined.size();) {
    const bool mark = joined.compare(i, space_mark.size(), space_mark) == 0;
    text += mark ? ' ' : joined[i];
    i += mark ? space_mark.size() : 1;
  }
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

std::string Tokenizer::piece(TokenId id) const {
  check_id(id);
  return vocabulary_.empty() ? processor_->IdToPiece(id) : vocabulary_[static_cast<std::size_t>(id)];
}

TokenId Tokenizer::find(std::string_view piece) const {
  const auto found = ids_.find(std::string(piece));
  return found == ids_.end() ? -1 : found->second;
}

Index Tokenizer::vocab_size() const {
  return vocabulary_.empty() ? processor_->GetPieceSize() : static_cast<Index>(vocabulary_.size());
}
std::unordered_map<std::string, TokenId> Tokenizer::ids() const {
  std::unordered_map<std::string, TokenId> ids;
  for (TokenId id = 0; id < vocab_size(); ++id) ids.emplace(piece(id), id);
  return ids;
}
std::optional<TokenId> Tokenizer::find_piece(std::string_view piece) const {
  if (!vocabulary_.empty()) {
    const TokenId id = find(piece);
    return id >= 0 ? std::optional(id) : std::nullopt;
  }
  const TokenId id = processor_->PieceToId({piece.data(), piece.size()});
  return processor_->IsUnknown(id) ? std::nullopt : std::optional(id);
}

bool Tokenizer::has_character(char32_t c) const {
  std::call_once(processor_->has_characters, [this] {
    for (TokenId id = 0; id < vocab_size(); ++id) {
      const std::string name = piece(id);
      const bool is_special = name.size() > 1 && name.front() == '<' && name.back() == '>';
      if (is_special) continue;
      for (const char32_t character : decode_utf8(name)) processor_->characters.insert(character);
    }
  });
  return processor_->characters.contains(c);
}

TokenId Tokenizer::unk_id() const { return vocabulary_.empty() ? processor_->unk_id() : find(unk_piece); }
TokenId Tokenizer::pad_id() const { return vocabulary_.empty() ? processor_->pad_id() : find(pad_piece); }
TokenId Tokenizer::bos_id() const { return vocabulary_.empty() ? processor_->bos_id() : -1; }
TokenId Tokenizer::eos_id() const { return vocabulary_.empty() ? processor_->eos_id() : find(eos_piece); }

const std::optional<WordPieceRules>& Tokenizer::wordpiece() const { return processor_->wordpiece; }

void Tokenizer::check_id(TokenId id) const {
  WASMFORMER_CHECK(id >= 0 && id < vocab_size(), ErrorCode::tokenizer,
                   "id " << id << " is outside the vocabulary of " << vocab_size() << " pieces");
}

}  // namespace wasmformer
