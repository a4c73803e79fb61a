// Tokenizers that need no training: SentencePiece models of type char and word, made here so that the browser
// can make them too.
#pragma once

#include <string>
#include <vector>

namespace wasmformer {

// The bytes of a SentencePiece .model file whose pieces are <pad>, <unk>, <s>, </s>, ids 0 to 3, and every
// character of `texts`, the most frequent first; a space is the character ▁. Throws Error if a text is not
// UTF-8, or if there are no characters.
std::string character_model(const std::vector<std::string>& texts);

// The same with words, separated by spaces: the most frequent ones, at most `vocab_size` pieces in total.
std::string word_model(const std::vector<std::string>& texts, std::size_t vocab_size);

// Number of different characters (Unicode code points) in `texts`; texts that are not UTF-8 count as empty.
std::size_t count_characters(const std::vector<std::string>& texts);

}  // namespace wasmformer
