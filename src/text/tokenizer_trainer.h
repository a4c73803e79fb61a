// Training of SentencePiece models. In WebAssembly it is in a separate module, bindings/extras.cpp.
#pragma once

#include <string>
#include <vector>

#include "tensor/matrix.h"

namespace wasmformer {

struct TokenizerOptions {
  Index vocab_size = 8000;
  std::string type = "bpe";  // bpe | unigram | char | word
  // nmt_nfkc; identity, which leaves full-width punctuation as it is; or a .tsv file of rules in
  // SentencePiece's format, such as traditional to simplified Chinese characters. The .model file keeps them.
  std::string normalization = "nmt_nfkc";
  double character_coverage = 1;  // share of the text whose characters become pieces, the frequent ones first
  // Of bpe and unigram: 256 pieces for the bytes of all other characters, so that any text comes through.
  bool byte_fallback = false;
  bool split_digits = false;  // of bpe and unigram: every digit is a piece of its own
};

// Returns the bytes of a SentencePiece .model file with pad 0, unk 1, bos 2, eos 3 and its normalization.
// Throws Error if there is no text, or too little for `vocab_size`.
std::string train_tokenizer(const std::vector<std::string>& sentences, const TokenizerOptions& options);

}  // namespace wasmformer
