// Training of encoders that classify and tag.
#include <algorithm>
#include <cmath>

#include "ops/crf.h"
#include "ops/pooling.h"
#include "schema/json.h"
#include "schema/options.h"
#include "tasks/annotate/batch.h"
#include "tasks/annotate/score_mix.h"
#include "tasks/annotate/word_learning.h"

namespace wasmformer {
namespace {

// Weights inversely proportional to how often each class occurs, 1 on average over the texts.
std::vector<double> balanced_weights(const AnnotatedExamples& examples, Index classes) {
  std::vector<double> counts(static_cast<std::size_t>(classes), 0);
  double all = 0;
  for (const auto& example : examples.all) {
    for (TokenId id : example.classes) {
      ++counts[id];
      ++all;
    }
  }
  for (double& count : counts) count = all / static_cast<double>(classes) / std::max(count, 1.0);
  return counts;
}

// Labels and tags that a model finds, compared with the true ones.
class AnnotationInference : public Inference {
 public:
  AnnotationInference(const ModelFile& model, ThreadPool& pool, const std::vector<AnnotatedText>& texts)
      : model_(model), texts_(texts), job_(model, pool, texts, {.keeps_scores = true}) {}
  bool step() override { return job_.step(); }

  ValidationScores scores() override {
    mix_ = choose_mix(job_, model_, texts_);
    const AnnotationScores of_mix = score(model_, texts_, job_.results());
    ValidationScores scores{.figures = of_mix.figures, .further = {{"exact_match", of_mix.exact_match}}, .error = {}};
    scores.error = error(scores.figures);
    // The encoder's own result counts as much as the mixture's, whose shares are fitted to these very texts: the step
    // at which the mixture does best is partly luck.
    if (model_.words || model_.tag_words) {
      job_.choose_again({.class_share = 0, .tag_share = 0, .outside_score = mix_.outside_score}, texts_.size());
      scores.error = (*scores.error + error(score(model_, texts_, job_.results()).figures)) / 2;
    }
    return scores;
  }
  void settle(ModelFile& model) const override { model.mix = mix_; }

 private:
  // How far they are from perfect, from 0 to 1: the mean of the classes' accuracy and the tags' score.
  static double error(const std::map<std::string, double>& figures) {
    double sum = 0, count = 0;
    const char* of_tags = figures.contains("span_f1") ? "span_f1" : "tag_accuracy";
    for (const char* key : {"accuracy", of_tags}) {
      const auto figure = figures.find(key);
      if (figure == figures.end()) continue;
      sum += figure->second;
      ++count;
    }
    return 1 - sum / count / 100;
  }

  const ModelFile& model_;
  const std::vector<AnnotatedText>& texts_;
  AnnotationJob job_;
  ScoreMix mix_;
};

class AnnotateTask : public Task {
 public:
  const char* name() const override { return "annotate"; }
  bool trains(const Config& config) const override { return !config.predicts_tokens(); }
  const char* unit() const override { return "texts"; }
  const char* use(const Config& config) const override { return config.classes > 0 ? "classify" : "tag"; }
  double patience() const override { return 20; }
  std::shared_ptr<Texts> no_texts() const override { return std::make_shared<AnnotatedTexts>(); }
  std::unique_ptr<Examples> examples(const Texts& texts, const ModelFile& model,
                                     const TrainingConfig& training) const override {
    auto examples = std::make_unique<AnnotatedExamples>(annotated_examples(of(texts).all, model));
    if (training.bpe_dropout == 0) return examples;
    examples->splitter = std::make_shared<PieceSplitter>(*model.source_tokenizer, training.bpe_dropout);
    WASMFORMER_CHECK(examples->splitter->can_split(), ErrorCode::corpus,
                     "bpe_dropout has no effect: no piece of the vocabulary consists of two others");
    return examples;
  }
  // All texts are: a label that is not among those of the training texts counts as not found.
  std::unique_ptr<Inference> infer(const ModelFile& model, ThreadPool& pool, const Texts& texts) const override {
    return std::make_unique<AnnotationInference>(model, pool, of(texts).all);
  }
  bool makes_heads() const override { return true; }
  Preset preset(const Texts& texts) const override {
    Preset preset = encoder_preset();
    preset.config.crf &= of(texts).kind.has_tags;
    preset.training.word_scores = true;
    return preset;
  }
  LabelNames labels(const Texts& texts, const Config& config) const override {
    return label_names(of(texts), config.multi_label);
  }
  void prepare(ModelFile& model, const Texts& texts, const TrainingConfig& training) const override {
    if (!training.word_scores) return;
    const Config& config = model.transformer->config();
    const auto keep = [](WordScores scores, std::optional<WordScores>& place) {
      if (!scores.features.empty()) place = std::move(scores);
    };
    if (config.classes > 0)
      keep(learn_word_scores(
               of(texts).all, model.labels.classes,
               {.multi_label = config.multi_label, .balance_classes = training.balance_classes, .seed = training.seed}),
           model.words);
    if (config.tags > 0) keep(learn_tag_scores(of(texts).all, model.labels.tags), model.tag_words);
  }

 private:
  static const AnnotatedTexts& of(const Texts& texts) { return static_cast<const AnnotatedTexts&>(texts); }
};

// As checkpoints held texts before they held labels as arrays: "a,b" (classes), "O B-place" (tags), or both with a tab
// between them.
AnnotatedText text_of_older_checkpoint(const std::string& source, std::string_view target, const Config& config) {
  AnnotatedText text{.text = source, .words = {}, .classes = {}, .tags = {}};
  std::string_view classes = target, tags = target;
  if (config.classes > 0 && config.tags > 0) {
    const std::size_t tab = std::min(target.find('\t'), target.size());
    classes = target.substr(0, tab);
    tags = target.substr(std::min(tab + 1, target.size()));
  }
  if (config.tags > 0) {
    for (std::string_view word : split_at_spaces(source)) text.words.emplace_back(word);
    for (std::string_view tag : split_at_spaces(tags)) text.tags.emplace_back(tag);
  }
  if (config.classes > 0) text.classes.emplace_back(classes);
  return text;
}

// At commas; an empty text has no labels.
Labels separated(const Labels& written) {
  Labels labels;
  for (const std::string& names : written)
    for (const std::string_view name : split(names, ',')) labels.emplace_back(name);
  return labels;
}

}  // namespace

LossTotals AnnotatedBatch::totals() const {
  double labelled = 0;
  if (transformer_.config().multi_label) {
    labelled = static_cast<double>(class_spans.size());
  } else {
    for (TokenId id : classes) labelled += class_weights.empty() ? 1 : class_weights[id];
  }
  return {labelled, static_cast<double>(tags.size())};
}

std::unique_ptr<TaskBatch> AnnotatedBatch::share(int index, int count) const {
  const auto tokens_before = [&](std::size_t i) {
    return i == source_spans.size() ? static_cast<Index>(source.size()) : source_spans[i].begin;
  };
  const std::size_t begin = first_of_share(source_spans.size(), index, count, tokens_before);
  const std::size_t end = first_of_share(source_spans.size(), index + 1, count, tokens_before);
  auto part = std::make_unique<AnnotatedBatch>(transformer_, training_);
  const Span rows = take(source_spans, begin, end, part->source_spans);
  const Span labels = take(class_spans, begin, end, part->class_spans);
  take(source, rows, part->source);
  take(classes, labels, part->classes);
  part->first_source = rows.begin;
  part->class_weights = class_weights;
  for (std::size_t i = 0; i < tagged.size(); ++i) {
    if (tagged[i] < rows.begin || tagged[i] >= rows.end()) continue;
    part->tagged.push_back(tagged[i] - rows.begin);
    part->tags.push_back(tags[i]);
  }
  return part;
}

// Splits pieces at random, differently in every epoch. A text that would become too long stays as it is.
void AnnotatedBatch::split_pieces(Random& random) {
  const auto longest = static_cast<std::size_t>(transformer_.config().max_length);
  std::vector<TokenId> all;
  auto row = tagged.begin();
  for (Span& text : source_spans) {
    std::vector<TokenId> pieces;
    std::vector<Index> first_piece;  // of each token before
    for (Index i = text.begin; i < text.end(); ++i) {
      first_piece.push_back(static_cast<Index>(pieces.size()));
      splitter->add(source[i], random, pieces);
    }
    const auto begin = static_cast<Index>(all.size());
    const bool fits = pieces.size() <= longest;
    for (; row != tagged.end() && *row < text.end(); ++row)
      *row = begin + (fits ? first_piece[*row - text.begin] : *row - text.begin);
    if (!fits) pieces.assign(source.begin() + text.begin, source.begin() + text.end());
    text = {begin, static_cast<Index>(pieces.size())};
    all.insert(all.end(), pieces.begin(), pieces.end());
  }
  source = std::move(all);
}

void AnnotatedBatch::hide(std::uint64_t seed, bool is_training) {
  const Config& c = transformer_.config();
  Random random(seed);
  if (is_training && splitter) split_pieces(random);
  for (TokenId& id : source) {
    const bool is_mark = id == c.eos_id || id == c.bos_id;  // begin and end tokens are never hidden
    if (is_mark || random.uniform() >= (is_training ? training_.word_dropout : 0)) continue;
    id = c.pad_id;
  }
}

// The tags of each sentence.
Spans AnnotatedBatch::tag_spans() const {
  Spans spans;
  for (auto row = tagged.begin(); const Span& sentence : source_spans) {
    const auto end = std::lower_bound(row, tagged.end(), sentence.end());
    spans.push_back({row - tagged.begin(), end - row});
    row = end;
  }
  return spans;
}

CrossEntropy AnnotatedBatch::class_loss(Tape& tape, Var memory, double total, double label_smoothing) const {
  const Var logits = transformer_.classify(tape, memory, source_spans);
  if (transformer_.config().multi_label)
    return binary_cross_entropy(tape, logits, classes, class_spans, label_smoothing, total);
  // Validation, which gives no totals, counts every text alike.
  const std::span<const double> weights = total > 0 ? class_weights : std::span<const double>();
  return cross_entropy(tape, logits, classes, label_smoothing, weights, total);
}

CrossEntropy AnnotatedBatch::tag_loss(Tape& tape, Var memory, double total, double label_smoothing) const {
  const Var logits = transformer_.tag(tape, memory, tagged);
  if (transformer_.config().crf)
    return crf_loss(tape, logits, transformer_.tag_transitions(), tags, tag_spans(), total);
  return cross_entropy(tape, logits, tags, label_smoothing, {}, total);
}

CrossEntropy AnnotatedBatch::loss(Tape& tape, const LossTotals& totals, double label_smoothing) const {
  const Config& c = transformer_.config();
  tape.set_first_row(first_source);
  const Var memory = transformer_.encode(tape, source, source_spans);
  if (c.tags == 0) return class_loss(tape, memory, totals[0], label_smoothing);
  if (c.classes == 0) return tag_loss(tape, memory, totals[1], label_smoothing);
  const CrossEntropy of_classes = class_loss(tape, memory, totals[0], label_smoothing);
  const CrossEntropy of_tags = tag_loss(tape, memory, totals[1], label_smoothing);
  return {weighted_sum(tape, of_classes.loss, of_tags.loss, training_.tag_weight),
          of_classes.nll + training_.tag_weight * of_tags.nll};
}

Examples::Sides AnnotatedExamples::tokens(Index i) const {
  return {static_cast<Index>(all[i].source.size()), static_cast<Index>(all[i].tags.size())};
}

std::uint64_t AnnotatedExamples::fingerprint() const {
  std::uint64_t hash = fnv_offset;
  for (const Example& example : all)
    for (const auto* ids : {&example.source, &example.tags, &example.classes}) hash = add_to_hash(hash, *ids);
  return hash;
}

std::unique_ptr<TaskBatch> AnnotatedExamples::pack(std::span<const Index> which, Transformer& transformer,
                                                   const TrainingConfig& training) const {
  auto batch = std::make_unique<AnnotatedBatch>(transformer, training);
  batch->splitter = splitter;
  for (Index i : which) {
    const Example& example = all[i];
    const auto begin = static_cast<Index>(batch->source.size());
    for (Index word : example.words) batch->tagged.push_back(begin + word);
    batch->class_spans.push_back(
        {static_cast<Index>(batch->classes.size()), static_cast<Index>(example.classes.size())});
    batch->source_spans.push_back({begin, static_cast<Index>(example.source.size())});
    batch->source.insert(batch->source.end(), example.source.begin(), example.source.end());
    batch->classes.insert(batch->classes.end(), example.classes.begin(), example.classes.end());
    batch->tags.insert(batch->tags.end(), example.tags.begin(), example.tags.end());
  }
  const Config& c = transformer.config();
  if (training.balance_classes && c.classes > 0 && !c.multi_label)
    batch->class_weights = balanced_weights(*this, c.classes);
  return batch;
}

double AnnotatedExamples::guessing_loss(const Config& c, const TrainingConfig& training) const {
  const auto guess = [](Index choices) { return std::log(static_cast<double>(std::max<Index>(choices, 1))); };
  const double of_classes = c.multi_label ? static_cast<double>(c.classes) * guess(2) : guess(c.classes);
  return of_classes + training.tag_weight * guess(c.tags);
}

const Task& AnnotatedTexts::task() const { return annotate_task(); }

std::shared_ptr<Texts> AnnotatedTexts::select(std::span<const Index> which) const {
  std::vector<AnnotatedText> some;
  for (Index i : which) some.push_back(all[i]);
  return std::make_shared<AnnotatedTexts>(std::move(some), kind);
}

std::vector<std::vector<std::string>> AnnotatedTexts::sides() const {
  std::vector<std::string> texts;
  for (const AnnotatedText& text : all) texts.push_back(text.text);
  return {texts};
}

std::string AnnotatedTexts::to_json(std::size_t i) const {
  const AnnotatedText& text = all[i];
  nlohmann::ordered_json json;
  if (kind.has_tags)
    json["words"] = text.words;
  else
    json["text"] = text.text;
  if (kind.has_classes) json["classes"] = text.classes;
  if (kind.has_tags) json["tags"] = text.tags;
  return json.dump();
}

void AnnotatedTexts::add_json(const JsonObject& given, const Config& config) {
  constexpr const char* damaged = "the texts of the run are damaged";
  const nlohmann::json& json = given.value;
  kind.has_classes = config.classes > 0;
  kind.has_tags = config.tags > 0;
  if (json.is_array()) {
    WASMFORMER_CHECK(json.size() == 2 && json[0].is_string() && json[1].is_string(), ErrorCode::pairs_damaged, damaged);
    all.push_back(text_of_older_checkpoint(json[0], json[1].get<std::string>(), config));
    kind.commas_separate = true;
    return;
  }
  WASMFORMER_CHECK(json.is_object(), ErrorCode::pairs_damaged, damaged);
  try {
    AnnotatedText text{.text = json.value("text", ""), .words = {}, .classes = {}, .tags = {}};
    if (json.contains("words")) text = tagged_text(json["words"], json.value("tags", Labels()));
    text.classes = json.value("classes", Labels());
    all.push_back(std::move(text));
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::pairs_damaged, damaged);
  }
}

void AnnotatedTexts::settle(const Config& config) {
  if (kind.commas_separate && config.multi_label)
    for (AnnotatedText& text : all) text.classes = separated(text.classes);
  kind.commas_separate = false;
  check_labels(*this, config.multi_label);
}

const Task& annotate_task() {
  static const AnnotateTask task;
  return task;
}

}  // namespace wasmformer
