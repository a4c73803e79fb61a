#include "tasks/translate/translate_task.h"

#include <cmath>

#include "schema/json.h"
#include "schema/options.h"
#include "tasks/translate/evaluate.h"

namespace wasmformer {
namespace {

// Greedy translations, compared with the targets.
class GreedyInference : public Inference {
 public:
  GreedyInference(const ModelFile& model, ThreadPool& pool, const ParallelText& pairs)
      : job_(model, pool, pairs.sources, pairs.targets, greedy()) {}
  bool step() override { return job_.step(); }
  ValidationScores scores() override {
    const Evaluation found = job_.result();
    return {.figures = {{"bleu", found.bleu}},
            .further = {{"chrf", found.chrf}, {"exact_match", found.exact_match}},
            .error = {}};
  }

 private:
  EvaluationJob job_;
};

// The runs that these come from are in tests/bench/LAB.md, "A budget of minutes".
std::vector<BudgetCandidate> translator_candidates() {
  Preset common = preset("multi30k-tiny");
  common.config.positions = Positions::rotary;
  common.config.norm = NormPosition::pre;
  common.training.optimizer = OptimizerKind::muon;
  common.training.schedule = Schedule::linear;
  common.training.learning_rate = 0.01;
  common.training.warmup_steps = 50;
  common.training.clip_norm = 1;
  common.training.unigram_bias = true;
  common.training.batch_tokens = 2048;
  common.training.output_sample = 1536;

  const auto with_layers = [&common](Index layers) {
    Preset p = common;
    p.config.encoder_layers = p.config.decoder_layers = layers;
    return p;
  };
  Preset smallest = with_layers(2);
  smallest.training.batch_tokens = smallest.training.output_sample = 1024;
  smallest.training.muon_rate = 0.012;
  smallest.training.learning_rate = 0.008;
  Preset large = with_layers(4);
  large.config.d_model = 256;
  large.config.ffn_dim = 512;
  return {{.settings = smallest, .fits_dropout = true},
          {.settings = with_layers(3), .least_steps = 1000, .fits_dropout = true},
          {.settings = with_layers(4), .least_steps = 1000, .fits_dropout = true},
          {.settings = large, .least_steps = 2000, .fits_dropout = true}};
}

class TranslateTask : public Task {
 public:
  const char* name() const override { return "translate"; }
  bool trains(const Config& config) const override { return !config.is_encoder(); }
  const char* unit() const override { return "tokens"; }
  const char* use(const Config&) const override { return "translate"; }
  std::shared_ptr<Texts> no_texts() const override { return texts_of({}); }
  std::unique_ptr<Examples> examples(const Texts& texts, const ModelFile& model,
                                     const TrainingConfig& training) const override {
    const ParallelText& pairs = static_cast<const PairTexts&>(texts).pairs;
    return std::make_unique<Corpus>(tokenize_corpus(pairs.sources, pairs.targets, *model.source_tokenizer,
                                                    *model.target_tokenizer, model.transformer->config(),
                                                    {.rate = training.bpe_dropout, .seed = training.seed}));
  }
  // The pairs that became examples.
  std::shared_ptr<const Texts> usable(std::shared_ptr<const Texts> texts, const Examples& examples) const override {
    return texts->select(examples.lines);
  }
  std::unique_ptr<Inference> infer(const ModelFile& model, ThreadPool& pool, const Texts& texts) const override {
    return std::make_unique<GreedyInference>(model, pool, static_cast<const PairTexts&>(texts).pairs);
  }
  bool makes_heads() const override { return false; }
  Preset preset(const Texts&) const override { return wasmformer::preset("tiny"); }
  std::vector<BudgetCandidate> budget_candidates(const Texts&) const override { return translator_candidates(); }
  LabelNames labels(const Texts&, const Config&) const override { return {}; }
};

}  // namespace

void PairBatch::sample_outputs(const OutputSampler& sampler, std::uint64_t seed) {
  sample_ = std::make_shared<const OutputSample>(sampler.draw(batch_.target_out, seed));
}

std::unique_ptr<TaskBatch> PairBatch::share(int index, int count) const {
  auto part = std::make_unique<PairBatch>(wasmformer::share(batch_, index, count), transformer_);
  part->sample_ = sample_;
  return part;
}

CrossEntropy PairBatch::loss(Tape& tape, const LossTotals& totals, double label_smoothing) const {
  tape.set_first_row(batch_.first_source);
  const Var memory = transformer_.encode(tape, batch_.source, batch_.source_spans);
  tape.set_first_row(batch_.first_target);
  const Var hidden = transformer_.decode(tape, batch_.target_in, batch_.target_spans, memory, batch_.source_spans);
  return loss_of_pieces(tape, transformer_, hidden, batch_.target_out, sample_.get(), label_smoothing, totals[0]);
}

Examples::Sides Corpus::tokens(Index i) const {
  return {static_cast<Index>(pairs[i].source.size()), static_cast<Index>(pairs[i].target.size())};
}

std::uint64_t Corpus::fingerprint() const {
  std::uint64_t hash = fnv_offset;
  for (const SentencePair& pair : pairs) hash = add_to_hash(add_to_hash(hash, pair.source), pair.target);
  return hash;
}

std::unique_ptr<TaskBatch> Corpus::pack(std::span<const Index> which, Transformer& transformer,
                                        const TrainingConfig&) const {
  return std::make_unique<PairBatch>(wasmformer::pack(*this, which, transformer.config().bos_id), transformer);
}

double Corpus::guessing_loss(const Config& config, const TrainingConfig&) const {
  return std::log(static_cast<double>(std::max<Index>(config.target_vocab_size, 1)));
}

std::vector<Index> Corpus::target_counts(const Config& config) const {
  std::vector<Index> counts(static_cast<std::size_t>(config.target_vocab_size));
  for (const SentencePair& pair : pairs)
    for (const TokenId piece : pair.target) ++counts.at(static_cast<std::size_t>(piece));
  return counts;
}

void Corpus::check(const TrainingConfig& training) const {
  const TrainingConfig none;
  WASMFORMER_CHECK(training.word_dropout == none.word_dropout && training.tag_weight == none.tag_weight &&
                       training.balance_classes == none.balance_classes && training.mask_rate == none.mask_rate &&
                       training.freeze_steps == none.freeze_steps && training.word_scores == none.word_scores,
                   ErrorCode::train,
                   "word_dropout, tag_weight, balance_classes, word_scores, mask_rate and freeze_steps are for models "
                   "that classify, tag or fill masks");
}

PairTexts::PairTexts(ParallelText all) : pairs(std::move(all)) {
  WASMFORMER_CHECK(
      pairs.sources.size() == pairs.targets.size(), ErrorCode::train,
      "there are " << pairs.sources.size() << " source sentences but " << pairs.targets.size() << " target sentences");
}

const Task& PairTexts::task() const { return translate_task(); }

std::shared_ptr<Texts> PairTexts::select(std::span<const Index> which) const {
  ParallelText some;
  for (Index i : which) {
    some.sources.push_back(pairs.sources[i]);
    some.targets.push_back(pairs.targets[i]);
  }
  return texts_of(std::move(some));
}

std::string PairTexts::to_json(std::size_t i) const {
  return nlohmann::json{pairs.sources[i], pairs.targets[i]}.dump();
}

void PairTexts::add_json(const JsonObject& text, const Config&) {
  const nlohmann::json& pair = text.value;
  WASMFORMER_CHECK(pair.is_array() && pair.size() == 2 && pair[0].is_string() && pair[1].is_string(),
                   ErrorCode::pairs_damaged, "the sentence pairs of the run are damaged");
  pairs.sources.push_back(pair[0]);
  pairs.targets.push_back(pair[1]);
}

const Task& translate_task() {
  static const TranslateTask task;
  return task;
}

std::shared_ptr<Texts> texts_of(ParallelText pairs) { return std::make_shared<PairTexts>(std::move(pairs)); }

const ParallelText& pairs_of(const Texts& texts, const char* reason) {
  WASMFORMER_CHECK(&texts.task() == &translate_task(), ErrorCode::train, reason);
  return static_cast<const PairTexts&>(texts).pairs;
}

}  // namespace wasmformer
