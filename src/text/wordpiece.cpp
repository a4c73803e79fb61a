#include "text/wordpiece.h"

#include <sentencepiece_model.pb.h>

#include <algorithm>
#include <map>
#include <utility>

#include "schema/error.h"
#include "text/unicode/letters.h"
#include "text/unicode/unicode.h"
#include "text/unicode/utf8.h"

namespace wasmformer {
namespace {

using Piece = sentencepiece::ModelProto_SentencePiece;

constexpr std::string_view mark = "\xE2\x96\x81";  // ▁
constexpr std::string_view within = "##";
// The name of the normalizer, by which files of this kind are known; the rules follow it.
constexpr std::string_view kind = "wordpiece", lower_case_rule = " lower_case", accents_rule = " strip_accents",
                           chinese_rule = " split_chinese";

bool is_space(char32_t c) {
  return c == ' ' || (c >= '\t' && c <= '\r' && c != '\v' && c != '\f') || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

// Returns whether BERT counts c as Chinese, which excludes kana and Hangul.
bool is_chinese(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2CEAF) || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

Piece::Type type_of(const std::string& line, const WordPieceSpecials& specials) {
  if (line == specials.unk) return Piece::UNKNOWN;
  const bool is_special = line == specials.cls || line == specials.sep || line == specials.pad || line == specials.mask;
  return is_special ? Piece::CONTROL : Piece::NORMAL;
}

// A line of the vocabulary as SentencePiece writes such a piece: with a mark where a word begins, not where one goes
// on.
std::string marked(const std::string& line) {
  const bool is_inner = line.size() > within.size() && line.starts_with(within);
  return is_inner ? line.substr(within.size()) : std::string(mark) + line;
}

// The line of such a piece. One that is only the mark stands inside words.
std::string unmarked(const std::string& piece) {
  const bool begins_word = piece.starts_with(mark) && piece.size() > mark.size();
  return begins_word ? piece.substr(mark.size()) : std::string(within) + piece;
}

// The words of a text as BERT's basic tokenizer splits it.
class WordSplitter {
 public:
  explicit WordSplitter(const WordPieceRules& rules) : rules_(rules) {}

  void add(char32_t c) {
    constexpr char32_t replacement = 0xFFFD;  // stands for what could not be decoded
    if (is_space(c)) return end_word();
    if (c == replacement || is_invisible(c)) return;
    const bool is_apart = rules_.split_chinese && is_chinese(c);
    if (is_apart) end_word();
    for (const char32_t letter : folded(c)) add_letter(letter);
    if (is_apart) end_word();
  }

  std::vector<std::string> words() {
    end_word();
    return std::move(words_);
  }

 private:
  std::u32string folded(char32_t c) const {
    constexpr char32_t capital_i_with_dot = U'\u0130';  // İ, the only capital whose lower case is two characters
    if (rules_.lower_case && !rules_.strip_accents && c == capital_i_with_dot) return {U'i', U'\u0307'};
    if (!rules_.strip_accents) return {c};
    std::u32string letters;
    append_without_marks(c, letters);
    return letters;
  }

  void add_letter(char32_t letter) {
    if (rules_.lower_case) letter = lower_case(letter);
    const bool is_alone = is_punctuation(letter);
    if (is_alone) end_word();
    word_ += letter;
    if (is_alone) end_word();
  }

  void end_word() {
    if (!word_.empty()) words_.push_back(encode_utf8(word_));
    word_.clear();
  }

  WordPieceRules rules_;
  std::u32string word_;
  std::vector<std::string> words_;
};

}  // namespace

std::string wordpiece_model(const std::vector<std::string>& vocabulary, const WordPieceSpecials& specials,
                            const WordPieceRules& rules) {
  sentencepiece::ModelProto model;
  std::map<std::string, std::size_t> lines;
  for (const std::string& line : vocabulary) {
    const std::size_t number = lines.size() + 1;
    WASMFORMER_CHECK(!line.empty(), ErrorCode::wordpiece, "line " << number << " of the vocabulary is empty");
    const auto [before, is_new] = lines.emplace(line, number);
    WASMFORMER_CHECK(is_new, ErrorCode::wordpiece,
                     "the vocabulary has '" << line << "' twice, in lines " << before->second << " and " << number);
    Piece& piece = *model.add_pieces();
    piece.set_type(type_of(line, specials));
    piece.set_piece(piece.type() == Piece::NORMAL ? marked(line) : line);
    piece.set_score(0);
  }
  for (const std::string* special : {&specials.unk, &specials.cls, &specials.sep, &specials.pad})
    WASMFORMER_CHECK(lines.contains(*special), ErrorCode::wordpiece, "the vocabulary has no " << *special);

  sentencepiece::TrainerSpec& trainer = *model.mutable_trainer_spec();
  trainer.set_model_type(sentencepiece::TrainerSpec::WORD);
  trainer.set_vocab_size(model.pieces_size());
  trainer.set_unk_piece(specials.unk);
  trainer.set_bos_piece(specials.cls);
  trainer.set_eos_piece(specials.sep);
  trainer.set_pad_piece(specials.pad);
  std::string name(kind);
  if (rules.lower_case) name += lower_case_rule;
  if (rules.strip_accents) name += accents_rule;
  if (rules.split_chinese) name += chinese_rule;
  model.mutable_normalizer_spec()->set_name(name);
  return model.SerializeAsString();
}

std::vector<std::string> wordpiece_vocabulary(const std::string& bytes) {
  sentencepiece::ModelProto model;
  model.ParseFromString(bytes);
  std::vector<std::string> lines;
  for (const Piece& piece : model.pieces()) {
    lines.push_back(piece.type() == Piece::NORMAL ? unmarked(piece.piece()) : piece.piece());
  }
  return lines;
}

std::optional<WordPieceRules> wordpiece_rules(std::string_view normalizer) {
  if (!normalizer.starts_with(kind)) return std::nullopt;
  const auto has = [=](std::string_view rule) { return normalizer.find(rule) != normalizer.npos; };
  return WordPieceRules{has(lower_case_rule), has(accents_rule), has(chinese_rule)};
}

std::vector<std::string> wordpiece_words(std::string_view text, const WordPieceRules& rules) {
  WordSplitter splitter(rules);
  for (const char32_t c : decode_utf8(text)) splitter.add(c);
  return splitter.words();
}

std::vector<TokenId> wordpieces(std::string_view word, TokenId unk,
                                const std::function<TokenId(std::string_view)>& find) {
  constexpr std::ptrdiff_t longest = 100;  // characters
  const auto begins_character = [](char byte) { return (byte & 0xC0) != 0x80; };
  if (std::count_if(word.begin(), word.end(), begins_character) > longest) return {unk};
  std::vector<TokenId> ids;
  std::string rest = std::string(mark).append(word);
  const auto found = [&](std::string_view piece) -> TokenId {
    const bool begins_word = piece.starts_with(mark) && piece.size() > mark.size();
    return begins_word == ids.empty() ? find(piece) : -1;
  };
  while (!rest.empty()) {
    std::size_t length = rest.size();
    TokenId id = found(rest);
    while (id < 0 && length > 0) {
      do --length;
      while (length > 0 && !begins_character(rest[length]));
      if (length > 0) id = found(std::string_view(rest).substr(0, length));
    }
    if (id < 0) return {unk};
    ids.push_back(id);
    rest.erase(0, length);
  }
  return ids;
}

}  // namespace wasmformer
