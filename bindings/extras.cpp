// The second module: the training of SentencePiece tokenizers. bindings/js/tokenizer-module.ts says the same
// in TypeScript.
#include "arrays.h"
#include "text/tokenizer_trainer.h"

using namespace wasmformer;

namespace {

Bytes train(const std::vector<std::string>& sentences, int vocab_size, const std::string& type) {
  return to_bytes(train_tokenizer(sentences, {vocab_size, type}));
}

}  // namespace

EMSCRIPTEN_BINDINGS(wasmformer_tokenizer) {
  emscripten::register_type<Bytes>("Uint8Array");
  register_array<std::string>("string[]");
  emscripten::function("trainTokenizer", &train);
}
