// Training of SentencePiece models. In WebAssembly it is in a separate module, bindings/tokenizers.cpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "schema/options.h"
#include "tensor/matrix.h"

namespace wasmformer {

// Options as in schema/options.h.
struct TokenizerOptions {
  Index vocab_size = 8000;
  std::string type = "bpe";
  std::string normalization = "nmt_nfkc";
  double character_coverage = 1;
  bool byte_fallback = false;
  bool split_digits = false;
  std::string symbols;
  bool hard_vocab_limit = true;

  template <class Visitor>
  void visit(Visitor&& v) {
    v({"vocab_size", "pieces, including the control tokens"}, vocab_size);
    v({"type", "bpe, unigram, char or word"}, type);
    // identity leaves full-width punctuation as it is; a file of rules turns traditional characters into simplified
    // ones, for example. The .model file keeps them.
    v({"normalization",
       "nmt_nfkc (Unicode's compatibility form), identity, or a .tsv file of rules as in SentencePiece"},
      normalization);
    v({"character_coverage", "share of the text whose characters become pieces, the frequent ones first"},
      character_coverage);
    v({"byte_fallback", "bpe, unigram: other characters become their bytes, which takes 256 pieces"}, byte_fallback);
    v({"split_digits", "bpe, unigram: every digit is a piece of its own"}, split_digits);
    v({"symbols", "pieces that stay whole, separated by commas, such as <e1>,</e1>"}, symbols);
    v({"hard_vocab_limit", "false: take fewer pieces than vocab_size from a text that has no more"}, hard_vocab_limit);
  }
};

// Called from time to time with a share of the work in [0, 1]: first as sentences are loaded, then as pieces are
// learned.
struct TokenizerProgress {
  std::function<void(double)> loads, learns;
};

// Returns the bytes of a SentencePiece .model file with pad 0, unk 1, bos 2, eos 3 and its normalization.
// Texts of any length count; the character U+2585, which SentencePiece reserves, does not become a piece.
// Throws Error if there is no text, too little for `vocab_size` (with hard_vocab_limit), or too many characters.
std::string train_tokenizer(const std::vector<std::string>& sentences, const TokenizerOptions& options,
                            const TokenizerProgress& progress = {});

}  // namespace wasmformer
