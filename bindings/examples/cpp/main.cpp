// Translates the lines of standard input, a few at a time, and prints the size of each cross-attention:
//   translate MODEL < SENTENCES
#include <wasmformer/wasmformer.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>

namespace {

void translate(const wasmformer::Translator& translator, const std::vector<std::string>& sentences) {
  for (const auto& translation : translator.translate(sentences, {.attention = true})) {
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
  std::ifstream file(argv[1], std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + std::string(argv[1]));
  const std::string model(std::istreambuf_iterator<char>(file), {});

  wasmformer::ThreadPool pool(/*threads=*/2);
  const wasmformer::Translator translator(model, pool);
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
