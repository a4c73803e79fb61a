#include <sentencepiece_processor.h>
#include <wasmformer/training_run.h>
#include <wasmformer/translator.h>

#include <fstream>
#include <iostream>
#include <iterator>

// A model with the tokenizer of the file, or without one with a tokenizer of its own.
wasmformer::Translator translator(const std::string& tokenizer) {
  wasmformer::RunRequest request{
      .preset = "tiny",
      .config = {R"({"d_model": 8, "num_heads": 1, "ffn_dim": 8, "encoder_layers": 1, "decoder_layers": 1})"},
      .validation = 0};
  if (tokenizer.empty()) request.tokenizer = {.type = wasmformer::TokenizerType::bpe, .vocab_size = 20};
  const std::vector<std::string> texts{"ein Hund und ein Haus"};
  const wasmformer::TrainingRun run(request, {.train = {.pairs = {.sources = texts, .targets = texts}},
                                              .source_tokenizer = std::as_bytes(std::span(tokenizer))});
  return wasmformer::Translator(run.model_file());
}

// Both read the tokenizer, and find the same pieces.
bool agree(const std::string& tokenizer, const std::string& text) {
  sentencepiece::SentencePieceProcessor other;
  std::vector<int> ids;
  if (!other.LoadFromSerializedProto(tokenizer).ok() || !other.Encode(text, &ids).ok() || ids.empty()) return false;
  std::vector<int> found;
  for (const wasmformer::SourceToken& token : translator(tokenizer).tokenize(text)) found.push_back(token.id);
  found.pop_back();  // the end token
  return found == ids;
}

int main(int, char** arguments) {
  std::ifstream file(arguments[1], std::ios::binary);
  const bool is_read = agree(std::string(std::istreambuf_iterator<char>(file), {}), "Wasmformer übersetzt Sätze.");
  std::string pieces;
  for (const wasmformer::SourceToken& token : translator("").tokenize("ein Haus")) pieces += token.piece;
  const bool is_trained = pieces == "▁ein▁Haus</s>";
  std::cout << is_read << is_trained << '\n';
  return is_read && is_trained ? 0 : 1;
}
