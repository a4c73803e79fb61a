// Tokenizers of plain lists, which need no training: SentencePiece models of type char and word, made here so
// that they can be made in the browser too.
#pragma once

#include <string>
#include <vector>

namespace wasmformer {

// The bytes of a SentencePiece .model file whose pieces are <pad>, <unk>, <s>, </s>, ids 0 to 3, and every
// character of `texts`, the most frequent first; a space is the character ▁. Throws Error when a text is not
// UTF-8, or there is no character.
std::string character_model(const std::vector<std::string>& texts);

// The same of the words, which are what stands between spaces: the most frequent, at most `vocab_size` pieces
// in all.
std::string word_model(const std::vector<std::string>& texts, std::size_t vocab_size);

}  // namespace wasmformer
