// Training of SentencePiece tokenizers. The extras module has it, for what is done once.
#include "arrays.h"
#include "text/tokenizer_trainer.h"

using namespace wasmformer;

namespace {

Bytes train(const std::vector<std::string>& sentences, const TokenizerOptions& options) {
  return to_bytes(train_tokenizer(sentences, options));
}

}  // namespace

EMSCRIPTEN_BINDINGS(wasmformer_tokenizers) {
  using namespace emscripten;
  value_object<TokenizerOptions>("TokenizerOptions")
      .field("vocabSize", &TokenizerOptions::vocab_size)
      .field("type", &TokenizerOptions::type)
      .field("normalization", &TokenizerOptions::normalization)
      .field("hardVocabLimit", &TokenizerOptions::hard_vocab_limit);
  emscripten::function("trainTokenizer", &train);
}
