#include <sentencepiece_processor.h>
#include <wasmformer/text/tokenizer.h>
#include <wasmformer/text/tokenizer_trainer.h>

#include <fstream>
#include <iostream>
#include <iterator>

// Both read the model, and find the same pieces.
bool agree(const std::string& model, const std::string& text) {
  sentencepiece::SentencePieceProcessor other;
  std::vector<int> ids;
  if (!other.LoadFromSerializedProto(model).ok() || !other.Encode(text, &ids).ok() || ids.empty()) return false;
  return wasmformer::Tokenizer(model).encode(text) == std::vector<wasmformer::TokenId>(ids.begin(), ids.end());
}

int main(int, char** arguments) {
  std::ifstream file(arguments[1], std::ios::binary);
  const bool is_read = agree(std::string(std::istreambuf_iterator<char>(file), {}), "Wasmformer übersetzt Sätze.");
  const bool is_trained = agree(wasmformer::train_tokenizer({"ein Hund und ein Haus"}, {20, "bpe"}), "ein Haus");
  std::cout << is_read << is_trained << '\n';
  return is_read && is_trained ? 0 : 1;
}
