#include "text/vocabulary.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>

#include "tensor/check.h"
#include "text/protobuf.h"
#include "text/utf8.h"

namespace wasmformer {
namespace {

constexpr const char* space = "\xE2\x96\x81";  // ▁, as SentencePiece writes it

// sentencepiece_model.proto
enum class ModelType { word = 3, character = 4 };
enum class PieceType { normal = 1, unknown = 2, control = 3 };

std::string model_of(const std::map<std::string, std::size_t>& counts, ModelType type,
                     std::size_t vocab_size) {
  WASMFORMER_CHECK(!counts.empty(), "[tokenizer] there is no text to take pieces from");
  std::vector<std::pair<std::string, std::size_t>> pieces(counts.begin(), counts.end());
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });

  std::string model;
  float score = 0;
  const auto add = [&](const std::string& piece, PieceType kind) {
    std::string entry;
    protobuf::add_bytes(entry, 1, piece);
    protobuf::add_float(entry, 2, score);
    protobuf::add_number(entry, 3, static_cast<std::uint64_t>(kind));
    protobuf::add_bytes(model, 1, entry);
  };
  const std::array<std::pair<const char*, PieceType>, 4> special = {{{"<pad>", PieceType::control},
                                                                     {"<unk>", PieceType::unknown},
                                                                     {"<s>", PieceType::control},
                                                                     {"</s>", PieceType::control}}};
  for (const auto& [piece, kind] : special) add(piece, kind);
  const std::size_t room = vocab_size - special.size();
  if (pieces.size() > room) pieces.resize(room);
  for (const auto& [piece, count] : pieces) add(piece, PieceType::normal), score -= 1;

  std::string trainer;
  protobuf::add_number(trainer, 3, static_cast<std::uint64_t>(type));
  protobuf::add_number(trainer, 4, pieces.size() + special.size());
  protobuf::add_number(trainer, 40, 1);  // unk
  protobuf::add_number(trainer, 41, 2);  // bos
  protobuf::add_number(trainer, 42, 3);  // eos
  protobuf::add_number(trainer, 43, 0);  // pad
  protobuf::add_bytes(model, 2, trainer);
  std::string normalizer;
  protobuf::add_bytes(normalizer, 1, "identity");
  // Words begin with ▁, the first as well; characters come as they are.
  protobuf::add_number(normalizer, 3, type == ModelType::word);
  protobuf::add_bytes(model, 3, normalizer);
  return model;
}

// Calls f(character) for each character of a text; a space is ▁.
template <class F>
void for_each_character(const std::string& text, F&& f) {
  WASMFORMER_CHECK(is_utf8(text), "[tokenizer] a text is not UTF-8: " << text.substr(0, 40));
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    while (end < text.size() && (text[end] & 0xC0) == 0x80) ++end;
    f(end - i == 1 && text[i] == ' ' ? std::string(space) : text.substr(i, end - i));
    i = end;
  }
}

}  // namespace

std::string character_model(const std::vector<std::string>& texts) {
  std::map<std::string, std::size_t> counts;
  for (const std::string& text : texts)
    for_each_character(text, [&](std::string character) { ++counts[std::move(character)]; });
  counts.erase(std::string(1, '\0'));
  return model_of(counts, ModelType::character, counts.size() + 4);
}

std::string word_model(const std::vector<std::string>& texts, std::size_t vocab_size) {
  WASMFORMER_CHECK(vocab_size > 4, "[tokenizer] vocab_size is " << vocab_size << "; it must be above 4");
  std::map<std::string, std::size_t> counts;
  for (const std::string& text : texts) {
    std::string word = space;
    const auto take = [&] {
      if (word != space) ++counts[word];
      word = space;
    };
    for_each_character(text, [&](const std::string& character) {
      if (character == space)
        take();
      else if (character != std::string(1, '\0'))
        word += character;
    });
    take();
  }
  return model_of(counts, ModelType::word, vocab_size);
}

}  // namespace wasmformer
