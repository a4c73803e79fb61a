// A fourth task, beside those of src/tasks: an encoder-decoder learns to write a text whole from a copy in which tokens
// are hidden (Lewis et al. 2020, "token masking"). It is the proof that a task is one file and one registration: it
// trains, saves, resumes and reports through the program and the package (fourth_task.test.mjs).
#include <cmath>

#include "schema/json.h"
#include "tasks/translate/evaluate.h"
#include "tasks/translate/translate_task.h"
#include "tensor/random.h"
#include "text/vocabulary.h"

namespace wasmformer {
namespace {

const Task& denoise_task();

// The words of a text without every fourth, to look at what a model makes of it.
std::string with_gaps(const std::string& text) {
  std::string kept;
  std::istringstream words(text);
  std::string word;
  for (int i = 1; words >> word; ++i) {
    if (i % 4 == 0) continue;
    kept += (kept.empty() ? "" : " ") + word;
  }
  return kept;
}

class Lines : public Texts {
 public:
  explicit Lines(std::vector<std::string> lines = {}) : all(std::move(lines)) {}
  const Task& task() const override { return denoise_task(); }
  std::size_t size() const override { return all.size(); }
  std::shared_ptr<Texts> select(std::span<const Index> which) const override {
    auto some = std::make_shared<Lines>();
    for (Index i : which) some->all.push_back(all[i]);
    return some;
  }
  KnownText known(std::size_t i) const override {
    return {.text = with_gaps(all[i]), .translation = all[i], .words = {}, .classes = {}, .tags = {}};
  }
  std::vector<std::vector<std::string>> sides() const override { return {all}; }
  std::string to_json(std::size_t i) const override { return nlohmann::json(all[i]).dump(); }
  void add_json(const JsonObject& text, const Config&) override {
    WASMFORMER_CHECK(text.value.is_string(), ErrorCode::pairs_damaged, "the texts of the run are damaged");
    all.push_back(text.value);
  }

  std::vector<std::string> all;
};

// Pairs whose sources lose tokens.
class DenoiseBatch : public PairBatch {
 public:
  DenoiseBatch(Batch batch, Transformer& transformer, double mask_rate)
      : PairBatch(std::move(batch), transformer), mask_rate_(mask_rate) {}

  void hide(std::uint64_t seed, bool) override {
    const Config& config = transformer_.config();
    Random random(seed);
    for (TokenId& id : batch_.source) {
      if (id != config.eos_id && random.uniform() < mask_rate_) id = config.pad_id;
    }
  }

 private:
  double mask_rate_;
};

// Pairs of a text and itself.
struct Copies : Corpus {
  explicit Copies(Corpus corpus) : Corpus(std::move(corpus)) {}
  std::unique_ptr<TaskBatch> pack(std::span<const Index> which, Transformer& transformer,
                                  const TrainingConfig& training) const override {
    Batch batch = wasmformer::pack(*this, which, transformer.config().bos_id);
    return std::make_unique<DenoiseBatch>(std::move(batch), transformer, training.mask_rate);
  }
  void check(const TrainingConfig& training) const override {
    WASMFORMER_CHECK(training.bpe_dropout == 0, ErrorCode::train, "bpe_dropout is for models that translate");
  }
};

// Texts with gaps, and how near to the whole text their restored forms come.
class Restoration : public Inference {
 public:
  Restoration(const ModelFile& model, ThreadPool& pool, const Lines& lines)
      : job_(model, pool, gaps(lines), lines.all, greedy()) {}
  bool step() override { return job_.step(); }
  ValidationScores scores() override {
    return {.figures = {{"restored_chrf", job_.result().chrf}}, .further = {}, .error = {}};
  }

 private:
  static std::vector<std::string> gaps(const Lines& lines) {
    std::vector<std::string> texts;
    for (const std::string& line : lines.all) texts.push_back(with_gaps(line));
    return texts;
  }
  EvaluationJob job_;
};

class DenoiseTask : public Task {
 public:
  const char* name() const override { return "denoise"; }
  bool trains(const Config& config) const override { return !config.is_encoder(); }
  const char* unit() const override { return "tokens"; }
  const char* use(const Config&) const override { return "translate"; }
  std::shared_ptr<Texts> no_texts() const override { return std::make_shared<Lines>(); }
  std::shared_ptr<Texts> from_lines(std::vector<std::string> lines) const override {
    return std::make_shared<Lines>(std::move(lines));
  }
  std::unique_ptr<Examples> examples(const Texts& texts, const ModelFile& model, const TrainingConfig&) const override {
    const std::vector<std::string>& lines = static_cast<const Lines&>(texts).all;
    return std::make_unique<Copies>(
        tokenize_corpus(lines, lines, *model.source_tokenizer, *model.target_tokenizer, model.transformer->config()));
  }
  std::unique_ptr<Inference> infer(const ModelFile& model, ThreadPool& pool, const Texts& texts) const override {
    return std::make_unique<Restoration>(model, pool, static_cast<const Lines&>(texts));
  }
  bool makes_heads() const override { return false; }
  Preset preset(const Texts&) const override {
    Preset preset = wasmformer::preset("tiny");
    preset.training.mask_rate = 0.3;
    return preset;
  }
  LabelNames labels(const Texts&, const Config&) const override { return {}; }
};

const Task& denoise_task() {
  static const DenoiseTask task;
  return task;
}

struct Registration {
  Registration() { all_tasks().push_back(&denoise_task()); }
};
const Registration registration;

}  // namespace
}  // namespace wasmformer
