#include "tasks/mask/mask_task.h"

#include <cmath>

#include "ops/pooling.h"
#include "schema/json.h"
#include "schema/options.h"
#include "tasks/annotate/labels.h"
#include "tensor/random.h"

namespace wasmformer {
namespace {

class MaskTask : public Task {
 public:
  const char* name() const override { return "mask"; }
  bool trains(const Config& config) const override { return config.is_encoder() && config.predicts_tokens(); }
  const char* unit() const override { return "tokens"; }
  const char* use(const Config&) const override { return ""; }
  std::shared_ptr<Texts> no_texts() const override { return std::make_shared<PlainTexts>(); }
  std::shared_ptr<Texts> from_lines(std::vector<std::string> lines) const override {
    return std::make_shared<PlainTexts>(std::move(lines));
  }
  std::unique_ptr<Examples> examples(const Texts& texts, const ModelFile& model, const TrainingConfig&) const override {
    auto examples = std::make_unique<MaskedExamples>();
    const auto& lines = static_cast<const PlainTexts&>(texts).lines;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      std::vector<TokenId> ids = tokenize_text(model, lines[i]).ids;
      if (ids.size() < 2) {
        ++examples->skipped;
        continue;
      }
      examples->all.push_back(std::move(ids));
      examples->lines.push_back(static_cast<Index>(i));
    }
    WASMFORMER_CHECK(!examples->all.empty(), ErrorCode::corpus,
                     "none of the " << examples->skipped << " texts can be used: they are empty");
    return examples;
  }
  bool infers() const override { return false; }
  std::unique_ptr<Inference> infer(const ModelFile&, ThreadPool&, const Texts&) const override { return nullptr; }
  bool makes_heads() const override { return true; }
  Preset preset(const Texts&) const override {
    Preset preset = encoder_preset();
    preset.config.crf = false;
    return preset;
  }
  LabelNames labels(const Texts&, const Config&) const override { return {}; }
};

}  // namespace

const Task& PlainTexts::task() const { return mask_task(); }

std::shared_ptr<Texts> PlainTexts::select(std::span<const Index> which) const {
  auto some = std::make_shared<PlainTexts>();
  for (Index i : which) some->lines.push_back(lines[i]);
  return some;
}

std::string PlainTexts::to_json(std::size_t i) const { return nlohmann::json(lines[i]).dump(); }

void PlainTexts::add_json(const JsonObject& text, const Config&) {
  // Older checkpoints have a pair of the text and nothing.
  const nlohmann::json& json = text.value;
  const bool is_older = json.is_array() && json.size() == 2;
  const nlohmann::json& line = is_older ? json[0] : json;
  WASMFORMER_CHECK(line.is_string(), ErrorCode::pairs_damaged, "the texts of the run are damaged");
  lines.push_back(line);
}

std::uint64_t MaskedExamples::fingerprint() const {
  std::uint64_t hash = fnv_offset;
  for (const auto& ids : all) hash = add_to_hash(hash, ids);
  return hash;
}

std::unique_ptr<TaskBatch> MaskedExamples::pack(std::span<const Index> which, Transformer& transformer,
                                                const TrainingConfig& training) const {
  auto batch = std::make_unique<MaskedBatch>(transformer, training);
  for (Index i : which) {
    batch->source_spans.push_back({static_cast<Index>(batch->source.size()), static_cast<Index>(all[i].size())});
    batch->source.insert(batch->source.end(), all[i].begin(), all[i].end());
  }
  return batch;
}

double MaskedExamples::guessing_loss(const Config& config, const TrainingConfig&) const {
  return std::log(static_cast<double>(std::max<Index>(config.target_vocab_size, 1)));
}

std::vector<Index> MaskedExamples::target_counts(const Config& config) const {
  std::vector<Index> counts(static_cast<std::size_t>(config.target_vocab_size));
  for (const auto& ids : all)
    for (const TokenId id : ids)
      if (id != config.eos_id && id != config.bos_id) ++counts.at(static_cast<std::size_t>(id));
  return counts;
}

void MaskedBatch::hide(std::uint64_t seed, bool) {
  const Config& c = transformer_.config();
  Random random(seed);
  for (std::size_t i = 0; i < source.size(); ++i) {
    TokenId& id = source[i];
    const bool is_mark = id == c.eos_id || id == c.bos_id;  // begin and end tokens are never hidden
    if (is_mark || random.uniform() >= training_.mask_rate) continue;
    masked.push_back(static_cast<Index>(i));
    hidden.push_back(id);
    // Devlin et al. 2019, section 3.1: a tenth becomes a random token, a tenth stays.
    const double kind = random.uniform();
    if (kind < 0.8)
      id = c.pad_id;
    else if (kind < 0.9)
      id = static_cast<TokenId>(random.below(static_cast<std::uint64_t>(c.source_vocab_size)));
  }
  if (!masked.empty()) return;
  masked = {0};  // the mean needs one
  hidden = {source[0]};
}

std::unique_ptr<TaskBatch> MaskedBatch::share(int index, int count) const {
  const auto tokens_before = [&](std::size_t i) {
    return i == source_spans.size() ? static_cast<Index>(source.size()) : source_spans[i].begin;
  };
  const std::size_t begin = first_of_share(source_spans.size(), index, count, tokens_before);
  const std::size_t end = first_of_share(source_spans.size(), index + 1, count, tokens_before);
  auto part = std::make_unique<MaskedBatch>(transformer_, training_);
  const Span rows = take(source_spans, begin, end, part->source_spans);
  take(source, rows, part->source);
  part->first_source = rows.begin;
  part->sample_ = sample_;
  for (std::size_t i = 0; i < masked.size(); ++i) {
    if (masked[i] < rows.begin || masked[i] >= rows.end()) continue;
    part->masked.push_back(masked[i] - rows.begin);
    part->hidden.push_back(hidden[i]);
  }
  return part;
}

CrossEntropy MaskedBatch::loss(Tape& tape, const LossTotals& totals, double label_smoothing) const {
  tape.set_first_row(first_source);
  const Var memory = transformer_.encode(tape, source, source_spans);
  const Var states = rows_at(tape, memory, masked);
  return loss_of_pieces(tape, transformer_, states, hidden, sample_.get(), label_smoothing, totals[0]);
}

const Task& mask_task() {
  static const MaskTask task;
  return task;
}

}  // namespace wasmformer
