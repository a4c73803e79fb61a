// Training of SentencePiece models. In WebAssembly it is a module of its own, bindings/tokenizer.cpp.
#pragma once

#include <string>
#include <vector>

#include "tensor/matrix.h"

namespace wasmformer {

struct TokenizerOptions {
  Index vocab_size = 8000;
  std::string type = "bpe";                // bpe | unigram | char | word
  std::string normalization = "nmt_nfkc";  // or identity, which leaves full-width punctuation as it is
};

// Returns the bytes of a SentencePiece .model file with pad 0, unk 1, bos 2, eos 3 and its normalization.
// Throws Error when there is no text, or too little of it for `vocab_size`.
std::string train_tokenizer(const std::vector<std::string>& sentences, const TokenizerOptions& options);

}  // namespace wasmformer
