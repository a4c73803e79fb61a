// One measurement a run, natively and as a WebAssembly module; the result is one JSON object on standard
// output:
//   wasmformer_bench kernels MS
//   wasmformer_bench train MODEL PAIRS THREADS MS
//   wasmformer_bench translate MODEL THREADS BATCH TOKENS MS
// MODEL is a model file; MS says for how many milliseconds to measure.
#include <cstdio>
#include <fstream>

#include "schema/error.h"
#include "tasks/translate/corpus.h"
#include "tasks/translate/translator.h"
#include "tests/bench/kernels.h"
#include "tests/bench/measure.h"
#include "train/trainer.h"
#ifdef __EMSCRIPTEN__
#include <emscripten/heap.h>
#include <malloc.h>
#endif

namespace wasmformer::bench {
namespace {

using Json = nlohmann::json;

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  WASMFORMER_CHECK(file, ErrorCode::other, "[bench] cannot open " << path);
  std::string bytes(static_cast<std::size_t>(file.tellg()), '\0');
  file.seekg(0).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

// Bytes that malloc has given out; -1 natively, where glibc counts what threads hold back for later.
double heap_in_use() {
#ifdef __EMSCRIPTEN__
  return static_cast<double>(mallinfo().uordblks);
#else
  return -1;
#endif
}

void add_memory([[maybe_unused]] Json& result, [[maybe_unused]] double before) {
#ifdef __EMSCRIPTEN__
  result["heap growth"] = heap_in_use() - before;
  result["module memory"] = static_cast<double>(emscripten_get_heap_size()) / 1e6;
#endif
}

// The same ids in every system (data.mjs). The lengths count the end token.
constexpr Index source_tokens = 16;
TokenId token(Index i, Index vocabulary) { return static_cast<TokenId>(4 + i * 7919 % (vocabulary - 4)); }

// Copies of random sentences; Adam at a constant rate. Reports the first losses, for comparison.
Json train(const std::string& path, Index pairs, int threads, double budget) {
  ModelFile model = parse_model(read(path));
  const Config& config = model.transformer->config();
  Corpus corpus;
  for (Index i = 0; i < pairs; ++i) {
    std::vector<TokenId> ids;
    for (Index j = 0; j < source_tokens; ++j) ids.push_back(token(i * source_tokens + j, config.source_vocab_size));
    corpus.pairs.push_back({ids, ids});
  }
  TrainingConfig training;
  training.schedule = Schedule::constant;
  training.learning_rate = 1e-3;
  training.warmup_steps = 1;
  training.beta2 = 0.999;
  training.epsilon = 1e-8;
  training.label_smoothing = 0;
  training.batch_tokens = pairs * source_tokens;
  ThreadPool pool(threads);
  Trainer trainer(*model.transformer, corpus, training, pool);
  Json result;
  std::vector<double> losses;
  for (int i = 0; i < 2; ++i) losses.push_back(trainer.step().loss);
  const double before = heap_in_use();
  const double ms = milliseconds_per_call({[&] { trainer.step(); }}, budget)[0];
  add_memory(result, before);
  result["ms a step"] = ms;
  result["losses"] = losses;
  return result;
}

Json translate(const std::string& path, int threads, Index batch, Index tokens, double budget) {
  ThreadPool pool(threads);
  const LoadedModel translator(read(path), pool);
  const Config& config = translator.model().transformer->config();
  std::vector<std::string> texts;
  for (Index i = 0; i < batch; ++i) {
    std::vector<TokenId> ids;
    for (Index j = 0; j + 1 < tokens; ++j) ids.push_back(token(i * tokens + j, config.source_vocab_size));
    texts.push_back(translator.model().source_tokenizer->decode(ids));
  }
  TranslateOptions options;
  options.beam_size = 1;
  options.max_length = tokens;
  Json result;
  for (const Translation& t : translator.translate(texts, options)) result["ids"].push_back(t.tokens.back().id);
  translator.translate(texts, options);
  const double before = heap_in_use();
  const double ms = milliseconds_per_call({[&] { translator.translate(texts, options); }}, budget)[0];
  add_memory(result, before);
  result["tokens/s"] = 1e3 * static_cast<double>(batch * tokens) / ms;
  result["ms a sentence"] = ms / static_cast<double>(batch);
  return result;
}

Json run(const std::vector<std::string>& arguments) {
  const auto is = [&](const char* command, std::size_t count) {
    return arguments.size() == count + 1 && arguments[0] == command;
  };
  const auto number = [&](std::size_t i) { return std::stoi(arguments[i]); };
  if (is("kernels", 1)) return kernels(number(1));
  if (is("train", 4)) return train(arguments[1], number(2), number(3), number(4));
  if (is("translate", 5)) return translate(arguments[1], number(2), number(3), number(4), number(5));
  throw Error(ErrorCode::other,
              "[bench] say kernels MS, train MODEL PAIRS THREADS MS, or translate MODEL THREADS BATCH TOKENS MS");
}

}  // namespace
}  // namespace wasmformer::bench

int main(int argc, char** argv) {
  wasmformer::keep_freed_memory();
  try {
    std::printf("%s\n", wasmformer::bench::run({argv + 1, argv + argc}).dump().c_str());
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
