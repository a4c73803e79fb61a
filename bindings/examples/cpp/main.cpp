// Translates the lines of standard input, a few at a time, and prints the size of each cross-attention:
//   translate MODEL < SENTENCES
#include <wasmformer/translator.h>

#include <exception>
#include <iostream>
#include <stdexcept>

namespace {

void translate(const wasmformer::Translator& translator, const std::vector<std::string>& sentences) {
  for (const auto& translation : translator.translate_batch(sentences, {.attention = true})) {
    std::cout << translation.text;
    if (translation.attention) {  // an empty line has none
      const auto& maps = translation.attention->cross;
      std::cout << "\t" << maps.layers << " layers, " << maps.heads << " heads, " << maps.rows << " x " << maps.columns;
    }
    std::cout << "\n";
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error("usage: translate MODEL < SENTENCES");
  const wasmformer::Translator translator(argv[1], /*threads=*/2);
  std::vector<std::string> batch;
  for (std::string line; std::getline(std::cin, line);) {
    batch.push_back(line);
    if (batch.size() < 32) continue;
    translate(translator, batch);
    batch.clear();
  }
  translate(translator, batch);
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
