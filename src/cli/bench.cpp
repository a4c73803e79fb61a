// The command bench: how fast this machine computes, translates and trains. tests/bench compares with others.
#include <CLI/CLI.hpp>
#include <chrono>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/help.h"
#include "cli/options.h"
#include "gemm/gemm.h"
#include "gemm/panels.h"
#include "tasks/translate/toy_tasks.h"
#include "tasks/translate/translate_task.h"
#include "tasks/translate/translator.h"
#include "tensor/random.h"
#include "text/vocabulary.h"
#include "train/training_run.h"

namespace wasmformer {
namespace {

struct BenchArguments {
  std::string model;
  int threads = 1;
  double seconds = 1;
  bool json = false;
};

// The sum of what `work` returns, per second, measured for about `seconds` after one call to warm up.
double rate(double seconds, const std::function<double()>& work) {
  using Clock = std::chrono::steady_clock;
  work();
  double done = 0, passed = 0;
  for (const auto start = Clock::now(); passed < seconds;
       passed = std::chrono::duration<double>(Clock::now() - start).count())
    done += work();
  return done / passed;
}

// y = x Wᵀ for x [m, k] and W [n, k]: 10^9 additions and multiplications per second.
double product_rate(const BenchArguments& o, ThreadPool& pool, bool int8) {
  constexpr Index m = 256, n = 512, k = 512;
  Random random(1);
  Matrix weights(n, k), x(m, k), y(m, n);
  for (Matrix* matrix : {&weights, &x})
    for (Scalar& value : matrix->reshaped()) value = static_cast<Scalar>(random.uniform() - 0.5);
  const ConstView view(weights.data(), n, k);
  const PackedMatrix packed = int8 ? PackedMatrix(quantize(view)) : PackedMatrix(view);
  std::vector<std::int32_t> words(static_cast<std::size_t>(m * int8_words(k))), zeros(m);
  std::vector<float> scales(m);
  return rate(o.seconds, [&] {
    if (int8) {
      const QuantizedRows rows{m, k, words.data(), scales.data(), zeros.data()};
      for (Index i = 0; i < m; ++i)
        quantize_row(x.data() + i * k, k, rows.words + i * int8_words(k), rows.scales[i], rows.zeros[i]);
      gemm(pool, rows, packed, View(y.data(), m, n));
    } else {
      gemm(pool, ConstView(x.data(), m, k), packed, View(y.data(), m, n));
    }
    return 2e-9 * m * n * k;
  });
}

// Target tokens per second for 32 sentences of 16 tokens each.
double translation_rate(const BenchArguments& o, ThreadPool& pool, const ModelFile& model, Index beam_size) {
  const Index pieces = model.transformer->config().source_vocab_size - 4;  // without the control tokens
  std::vector<std::string> texts;
  for (Index i = 0; i < 32; ++i) {
    std::vector<TokenId> ids;
    for (Index j = 0; j < 15; ++j) ids.push_back(static_cast<TokenId>(4 + (16 * i + j) * 7919 % pieces));
    texts.push_back(model.source_tokenizer->decode(ids));
  }
  const TranslateOptions options{.beam_size = beam_size, .max_length = 16};
  return rate(o.seconds, [&] {
    double tokens = 0;
    for (const Translation& t : translate_in_batches(model, pool, texts, options, 2048))
      tokens += static_cast<double>(t.tokens.size());
    return tokens;
  });
}

nlohmann::ordered_json measure(const BenchArguments& o) {
  ThreadPool pool(o.threads);
  const ParallelText text = make_pairs("reverse", 2000, 1);
  const auto characters = std::make_shared<const Tokenizer>(character_model(text.sources));
  TrainingStart start = fresh_start(preset("tiny"), {characters, characters}, std::numeric_limits<double>::max());
  TrainingSession run(std::move(start), {texts_of(text), texts_of(make_pairs("reverse", 10, 2))}, pool);
  const double training = rate(o.seconds, [&] { return static_cast<double>(run.step().units); });
  ModelFile loaded;
  if (!o.model.empty()) loaded = load_model(o.model, Weights::packed);
  const ModelFile& model = o.model.empty() ? run.packed_model() : loaded;
  return {{"threads", pool.size()},
          {"matrix_product_gflops", product_rate(o, pool, /*int8=*/false)},
          {"int8_product_gops", product_rate(o, pool, /*int8=*/true)},
          {"greedy_tokens_per_second", translation_rate(o, pool, model, 1)},
          {"beam_4_tokens_per_second", translation_rate(o, pool, model, 4)},
          {"training_tokens_per_second", training}};
}

}  // namespace

void add_bench_command(CLI::App& app) {
  auto o = std::make_shared<BenchArguments>();
  auto* command = app.add_subcommand("bench", "Measure matrix products, translation and training");
  command->add_option("--model", o->model, "model file to translate with; by default one of the preset tiny")
      ->type_name("FILE");
  command->add_option("--seconds", o->seconds, "seconds for each figure")->check(check_positive)->capture_default_str();
  add_threads(*command, o->threads);
  command->add_flag("--json", o->json, "print one JSON object");
  add_examples(*command,
               {"wasmformer bench --threads 2", "wasmformer bench --model de-en.safetensors --seconds 3 --json"});
  command->callback([o] {
    const auto figures = measure(*o);
    std::string text;
    for (const auto& [name, value] : figures.items()) text += name + ": " + fixed(value, 0) + "\n";
    print(o->json ? figures.dump(2) + "\n" : text);
  });
}

}  // namespace wasmformer
