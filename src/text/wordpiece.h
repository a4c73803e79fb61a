// BERT's tokenizer (Devlin et al. 2019): words end at spaces, punctuation and Chinese characters, which are words of
// their own, and a word is its longest pieces from the left. SentencePiece has no such search, but its file holds the
// pieces: one that begins a word with the mark ▁, and one within a word as it is, where BERT writes ##.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/matrix.h"

namespace wasmformer {

struct WordPieceRules {
  bool lower_case = true;
  bool strip_accents = true;
  bool split_chinese = true;
};

// Lines of vocab.txt that are not pieces of words.
struct WordPieceSpecials {
  std::string unk = "[UNK]", cls = "[CLS]", sep = "[SEP]", pad = "[PAD]", mask = "[MASK]";
};

// The bytes of a SentencePiece .model file with these lines of a vocab.txt as pieces. Throws Error, with the line, for
// an empty line, a repeated one, and a missing special token.
std::string wordpiece_model(const std::vector<std::string>& vocabulary, const WordPieceSpecials& specials,
                            const WordPieceRules& rules);
// The reverse: the lines of vocab.txt from such a file.
std::vector<std::string> wordpiece_vocabulary(const std::string& model);
// The rules that the name of the file's normalizer spells out; nullopt if the file is of another kind.
std::optional<WordPieceRules> wordpiece_rules(std::string_view normalizer);

// The words of a UTF-8 text.
std::vector<std::string> wordpiece_words(std::string_view text, const WordPieceRules& rules);
// The ids of a word's pieces; `find` gives the id of one, or -1. `unk` alone if the word cannot be spelled, or has more
// than 100 characters.
std::vector<TokenId> wordpieces(std::string_view word, TokenId unk,
                                const std::function<TokenId(std::string_view)>& find);

}  // namespace wasmformer
