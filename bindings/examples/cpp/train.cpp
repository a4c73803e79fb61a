// Trains a small translator on the lines of standard input, each a sentence, a tab and its translation, and writes the
// best model to a file:
//   train STEPS MODEL < PAIRS
#include <wasmformer/training_run.h>

#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>

namespace {

wasmformer::ParallelText read_pairs() {
  wasmformer::ParallelText pairs;
  for (std::string line; std::getline(std::cin, line);) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string::npos) throw std::runtime_error("a line without a tab: " + line);
    pairs.sources.push_back(line.substr(0, tab));
    pairs.targets.push_back(line.substr(tab + 1));
  }
  return pairs;
}

void write(const char* path, const std::vector<std::byte>& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + std::string(path));
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw std::runtime_error("usage: train STEPS MODEL < PAIRS");
  // Characters suit a few hundred short pairs; for real text leave both out ("tiny" and pieces of words).
  wasmformer::TrainingRun run(
      {.preset = "toy", .tokenizer = wasmformer::TokenizerRequest{.type = wasmformer::TokenizerType::character}},
      {.train = {.pairs = read_pairs()}}, /*threads=*/2);
  // The loop validates when epochs end, at least 20 steps apart, and at the end. model_file() has the weights of the
  // moment.
  const auto report = [&](const wasmformer::TrainingRun::Report& now) {
    std::cout << "step " << now.step << ", loss " << now.loss << "\n";
    if (now.validation && now.validation->is_best) write(argv[2], run.model_file());
  };
  run.run({.steps = std::stol(argv[1]), .report_every = 100}, report);
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
