#include "text/vocabulary.h"

#include <sentencepiece_model.pb.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "schema/error.h"
#include "text/unicode/utf8.h"

namespace wasmformer {
namespace {

constexpr const char* space = "\xE2\x96\x81";  // ▁, as SentencePiece writes it

using Piece = sentencepiece::ModelProto_SentencePiece;
using sentencepiece::TrainerSpec;

std::string model_of(const std::map<std::string, std::size_t>& counts, TrainerSpec::ModelType type,
                     std::size_t vocab_size) {
  WASMFORMER_CHECK(!counts.empty(), ErrorCode::tokenizer, "there is no text to take pieces from");
  std::vector<std::pair<std::string, std::size_t>> pieces(counts.begin(), counts.end());
  std::stable_sort(pieces.begin(), pieces.end(), [](const auto& a, const auto& b) { return a.second > b.second; });

  sentencepiece::ModelProto model;
  const auto add = [&model](const std::string& text, float score, Piece::Type kind) {
    Piece& piece = *model.add_pieces();
    piece.set_piece(text);
    piece.set_score(score);
    piece.set_type(kind);
  };
  add("<pad>", 0, Piece::CONTROL);
  add("<unk>", 0, Piece::UNKNOWN);
  add("<s>", 0, Piece::CONTROL);
  add("</s>", 0, Piece::CONTROL);
  const std::size_t special = static_cast<std::size_t>(model.pieces_size());
  if (pieces.size() > vocab_size - special) pieces.resize(vocab_size - special);
  float score = 0;
  for (const auto& [text, count] : pieces) {
    add(text, score, Piece::NORMAL);
    score -= 1;
  }

  TrainerSpec& trainer = *model.mutable_trainer_spec();
  trainer.set_model_type(type);
  trainer.set_vocab_size(model.pieces_size());
  trainer.set_pad_id(0);
  trainer.set_unk_id(1);
  trainer.set_bos_id(2);
  trainer.set_eos_id(3);
  model.mutable_normalizer_spec()->set_name("identity");
  // Words begin with ▁, the first as well; characters stay as they are.
  model.mutable_normalizer_spec()->set_add_dummy_prefix(type == TrainerSpec::WORD);
  return model.SerializeAsString();
}

// Calls f(character) for each character of a text; a space is ▁.
template <class F>
void for_each_character(const std::string& text, F&& f) {
  WASMFORMER_CHECK(is_utf8(text), ErrorCode::tokenizer, "a text is not UTF-8: " << text.substr(0, 40));
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
  return model_of(counts, TrainerSpec::CHAR, counts.size() + 4);
}

std::string word_model(const std::vector<std::string>& texts, std::size_t vocab_size) {
  WASMFORMER_CHECK(vocab_size > 4, ErrorCode::vocabulary_too_small,
                   "vocab_size is " << vocab_size << "; it must be above 4", {"size", vocab_size}, {"least", 5});
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
  return model_of(counts, TrainerSpec::WORD, vocab_size);
}

std::size_t count_characters(const std::vector<std::string>& texts) {
  std::unordered_set<char32_t> characters;
  for (const std::string& text : texts) {
    if (!is_utf8(text)) continue;
    for (const char32_t character : decode_utf8(text)) characters.insert(character);
  }
  return characters.size();
}

}  // namespace wasmformer
