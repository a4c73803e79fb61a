// Training of SentencePiece models. In WebAssembly it is a module of its own, bindings/tokenizer.cpp.
#pragma once

#include <string>
#include <vector>

#include "tensor/matrix.h"

namespace wasmformer {

struct TokenizerOptions {
  Index vocab_size = 8000;
  std::string type = "bpe";  // bpe | unigram | char | word
};

// Returns the bytes of a SentencePiece .model file with pad 0, unk 1, bos 2, eos 3 and the nmt_nfkc rule.
// Throws Error when there is no text, or too little of it for `vocab_size`.
std::string train_tokenizer(const std::vector<std::string>& sentences, const TokenizerOptions& options);

}  // namespace wasmformer
