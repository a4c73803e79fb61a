#include "tasks/annotate/inference.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/crf.h"
#include "tasks/translate/explain.h"
#include "tensor/heap_sort.h"
#include "text/unicode/utf8.h"

namespace wasmformer {
namespace {

// Turns each row of scores into probabilities.
Matrix softmax(ConstView logits) {
  Matrix result = logits;
  for (Index i = 0; i < result.rows(); ++i) {
    auto row = result.row(i).array();
    row = (row - row.maxCoeff()).exp();
    row /= row.sum();
  }
  return result;
}

std::vector<LabelProbability> class_probabilities(const Matrix& logits, const ModelFile& model, Index top) {
  const bool multi_label = model.transformer->config().multi_label;
  Matrix p = softmax(ConstView(logits.data(), 1, logits.cols()));
  if (multi_label) p = 1 / (1 + (-logits.array()).exp());
  std::vector<LabelProbability> labels;
  for (Index c = 0; c < p.cols(); ++c) labels.push_back({model.labels.classes[c], static_cast<double>(p(0, c))});
  std::stable_sort(labels.begin(), labels.end(),
                   [](const auto& a, const auto& b) { return a.probability > b.probability; });
  if (top > 0 && top < static_cast<Index>(labels.size())) labels.resize(top);
  return labels;
}

}  // namespace

const char* purpose(const Config& config) {
  if (!config.is_encoder()) return "translates";
  if (config.predicts_tokens()) return "fills masks";
  if (config.tags == 0) return "classifies";
  return config.classes == 0 ? "tags" : "classifies and tags";
}

void check_split(const AnnotateOptions& options, const Config& config, const std::string& place) {
  WASMFORMER_CHECK(config.tags > 0 || options.split, ErrorCode::wrong_task,
                   "split is false, but this model does not split texts", {"place", place});
}

Labels tag_names(const Annotation& annotation) {
  Labels tags;
  for (const TaggedWord& word : annotation.words) tags.push_back(word.tag);
  return tags;
}

Labels chosen_labels(const Annotation& annotation, const Config& config) {
  Labels chosen;
  for (const LabelProbability& label : annotation.labels)
    if (config.multi_label ? label.probability > 0.5 : chosen.empty()) chosen.push_back(label.label);
  return chosen;
}

// The best path to each tag of each word: the sum of its scores, and the tag before.
struct TagPaths {
  Matrix sums;
  Eigen::Matrix<Index, Eigen::Dynamic, Eigen::Dynamic> parents;
};

// The tags that may stand before each tag.
static std::vector<std::vector<Index>> allowed_before(const LabelNames& names) {
  const std::vector<std::string>& tags = names.tags;
  std::vector<std::vector<Index>> allowed(tags.size());
  for (std::size_t t = 0; t < tags.size(); ++t)
    for (std::size_t before = 0; before < tags.size(); ++before)
      if (may_follow(&tags[before], tags[t], tags, names.scheme)) allowed[t].push_back(static_cast<Index>(before));
  return allowed;
}

// Extends the paths by the best way to tag `t` of word `i`, whose score is `score`.
static void extend(TagPaths& paths, Index i, Index t, Scalar score, const std::vector<Index>& allowed,
                   const Matrix& transitions) {
  for (Index before : allowed) {
    const Scalar sum = paths.sums(i - 1, before) + score + (transitions.size() > 0 ? transitions(before, t) : 0);
    if (sum <= paths.sums(i, t)) continue;
    paths.sums(i, t) = sum;
    paths.parents(i, t) = before;
  }
}

static TagPaths best_paths(const Matrix& p, const LabelNames& names, const Matrix& transitions) {
  const std::vector<std::string>& tags = names.tags;
  constexpr Scalar never = -std::numeric_limits<Scalar>::infinity();
  const auto n = static_cast<Index>(tags.size());
  const std::vector<std::vector<Index>> allowed = allowed_before(names);
  TagPaths paths{.sums = Matrix::Constant(p.rows(), n, never), .parents = {}};
  paths.parents.resize(p.rows(), n);
  for (Index t = 0; t < n && p.rows() > 0; ++t)
    if (may_follow(nullptr, tags[t], tags, names.scheme)) paths.sums(0, t) = p(0, t);
  for (Index i = 1; i < p.rows(); ++i)
    for (Index t = 0; t < n; ++t) extend(paths, i, t, p(i, t), allowed[t], transitions);
  return paths;
}

std::vector<Index> best_tags(const Matrix& p, const LabelNames& names, const Matrix& transitions) {
  std::vector<Index> best(p.rows());
  const bool has_scheme = are_spans(names.tags) && names.scheme != TagScheme::any;
  if (!has_scheme && transitions.size() == 0) {
    for (Index i = 0; i < p.rows(); ++i) p.row(i).maxCoeff(&best[i]);
    return best;
  }
  if (p.rows() == 0) return best;
  const TagPaths paths = best_paths(p, names, transitions);
  const Index last = p.rows() - 1;
  paths.sums.row(last).maxCoeff(&best[last]);
  for (Index i = last - 1; i >= 0; --i) best[i] = paths.parents(i + 1, best[i + 1]);
  return best;
}

AnnotationJob::AnnotationJob(const ModelFile& model, ThreadPool& pool, std::size_t texts,
                             const AnnotateOptions& options, Index batch_tokens)
    : model_(model),
      pool_(pool),
      options_(options),
      masks_(model.transformer->config(), options.masked_heads, {}, {}),
      batch_tokens_(batch_tokens),
      results_(texts) {
  const Config& c = model.transformer->config();
  WASMFORMER_CHECK(c.classes > 0 || c.tags > 0, ErrorCode::annotate,
                   "this model " << purpose(c) << "; it has no labels to classify or tag with");
}

AnnotationJob::AnnotationJob(const ModelFile& model, ThreadPool& pool, const std::vector<std::string>& texts,
                             const AnnotateOptions& options, Index batch_tokens)
    : AnnotationJob(model, pool, texts.size(), options, batch_tokens) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    WASMFORMER_CHECK(is_utf8(texts[i]), ErrorCode::annotate, "text " << i + 1 << " is not UTF-8");
    score_words(texts[i]);
    read(i, texts[i]);
  }
}

AnnotationJob::AnnotationJob(const ModelFile& model, ThreadPool& pool, const std::vector<AnnotatedText>& texts,
                             const AnnotateOptions& options, Index batch_tokens)
    : AnnotationJob(model, pool, texts.size(), options, batch_tokens) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const AnnotatedText& text = texts[i];
    WASMFORMER_CHECK(is_utf8(text.text), ErrorCode::annotate, "text " << i + 1 << " is not UTF-8");
    score_words(text.text);
    if (model.transformer->config().tags == 0) {
      read(i, text.text);
      continue;
    }
    std::size_t begin = 0;
    for (const std::string& word : text.words) {
      results_[i].words.push_back({begin, word.size(), "", 0});
      begin += word.size() + 1;
    }
    read_words(i, {text.words.begin(), text.words.end()});
  }
}

void AnnotationJob::score_words(const std::string& content) {
  if (model_.words && !options_.encoder_alone) word_scores_.push_back(model_.words->scores(word_features(content)));
}

void AnnotationJob::read(std::size_t text, const std::string& content) {
  Annotation& result = results_[text];
  if (model_.transformer->config().tags == 0) {
    auto [ids, is_truncated] = tokenize_text(model_, content);
    result.is_truncated = is_truncated;
    const std::size_t window = windows_.size();
    if (ids.size() > 1) windows_.push_back({text, 0, std::move(ids), {}});
    take_tokens(text, window);
    return;
  }
  const std::vector<std::string_view> words = options_.split ? split_words(content) : split_at_spaces(content);
  for (std::string_view word : words)
    result.words.push_back({static_cast<std::size_t>(word.data() - content.data()), word.size(), "", 0});
  read_words(text, words);
}

void AnnotationJob::score_words_of(const std::vector<std::string_view>& words) {
  if (!model_.tag_words || options_.encoder_alone) return;
  Matrix& scores = tag_word_scores_.emplace_back(static_cast<Index>(words.size()), model_.tag_words->weights.rows);
  for (Index row = 0; const auto& features : context_features(words))
    scores.row(row++) = model_.tag_words->scores(features);
}

void AnnotationJob::read_words(std::size_t text, const std::vector<std::string_view>& words) {
  score_words_of(words);
  Annotation& result = results_[text];
  const std::size_t first_window = windows_.size();
  for (std::size_t first = 0; first < words.size();) {
    WordTokens tokens = tokenize_words(model_, words, first);
    const std::size_t count = tokens.at.size();
    windows_.push_back({text, first, std::move(tokens.ids), std::move(tokens.at)});
    first += count;
    result.is_truncated |= model_.transformer->config().classes > 0 && first < words.size();
  }
  take_tokens(text, first_window);
}

// Takes the tokens of a text from its first window, which is missing if the text is empty.
void AnnotationJob::take_tokens(std::size_t text, std::size_t window) {
  if (window == windows_.size()) return;
  for (TokenId id : windows_[window].ids) results_[text].tokens.push_back({model_.source_tokenizer->piece(id), id});
}

Matrix AnnotationJob::class_scores(const Window& w, const Matrix& encoder, const ScoreMix& mix) const {
  if (word_scores_.empty()) return encoder;
  return (1 - mix.class_share) * encoder + mix.class_share * word_scores_[w.text];
}

AnnotationJob::TagScores AnnotationJob::tag_scores(const Window& w, const Matrix& encoder, const ScoreMix& mix) const {
  const Transformer& transformer = *model_.transformer;
  TagScores scores{encoder, {}};
  if (transformer.config().crf) scores.transitions = transformer.tag_transitions().value;
  if (!tag_word_scores_.empty()) {
    const auto words = tag_word_scores_[w.text].middleRows(static_cast<Index>(w.first_word), encoder.rows());
    scores.words = (1 - mix.tag_share) * encoder + mix.tag_share * words;
    scores.transitions *= 1 - mix.tag_share;
  }
  if (options_.encoder_alone) return scores;
  const std::vector<std::string>& tags = model_.labels.tags;
  const auto outside = std::lower_bound(tags.begin(), tags.end(), "O");
  if (outside != tags.end() && *outside == "O") scores.words.col(outside - tags.begin()).array() += mix.outside_score;
  return scores;
}

// Gives the text of a window its labels, by these scores of the encoder.
void AnnotationJob::take_classes(const Window& w, Matrix encoder) {
  results_[w.text].labels = class_probabilities(class_scores(w, encoder, model_.mix), model_, options_.top_labels);
  if (options_.keeps_scores) kept_classes_.push_back(std::move(encoder));
}

// Gives the words of a window their tags, likewise.
void AnnotationJob::take_tags(const Window& w, Matrix encoder) {
  const auto [scores, transitions] = tag_scores(w, encoder, model_.mix);
  const auto view = [](const Matrix& m) { return ConstView(m.data(), m.rows(), m.cols()); };
  const bool has_field = transitions.size() > 0;
  const Matrix probabilities = has_field ? crf_probabilities(view(scores), view(transitions)) : softmax(view(scores));
  const std::vector<Index> best = best_tags(scores, model_.labels, transitions);
  for (std::size_t j = 0; j < best.size(); ++j) {
    TaggedWord& word = results_[w.text].words[w.first_word + j];
    word.tag = model_.labels.tags[best[j]];
    word.probability = static_cast<double>(probabilities(static_cast<Index>(j), best[j]));
  }
  if (options_.keeps_scores) kept_tags_.push_back(std::move(encoder));
}

void AnnotationJob::choose_again(const ScoreMix& mix, std::size_t texts) {
  std::size_t classified = 0;
  for (std::size_t i = 0; i < windows_.size() && windows_[i].text < texts; ++i) {
    const Window& w = windows_[i];
    Annotation& result = results_[w.text];
    if (w.first_word == 0 && !kept_classes_.empty())
      result.labels =
          class_probabilities(class_scores(w, kept_classes_[classified++], mix), model_, options_.top_labels);
    if (kept_tags_.empty()) continue;
    const auto [scores, transitions] = tag_scores(w, kept_tags_[i], mix);
    const std::vector<Index> best = best_tags(scores, model_.labels, transitions);
    for (std::size_t j = 0; j < best.size(); ++j) result.words[w.first_word + j].tag = model_.labels.tags[best[j]];
  }
}

// The next windows, as many as a batch takes.
AnnotationJob::Batch AnnotationJob::next_batch() {
  Batch batch;
  const std::size_t begin = next_;
  for (; next_ < windows_.size(); ++next_) {
    const Window& w = windows_[next_];
    if (next_ > begin && static_cast<Index>(batch.ids.size() + w.ids.size()) > batch_tokens_) break;
    batch.spans.push_back({static_cast<Index>(batch.ids.size()), static_cast<Index>(w.ids.size())});
    for (Index at : w.at) batch.rows.push_back(batch.spans.back().begin + at);
    batch.ids.insert(batch.ids.end(), w.ids.begin(), w.ids.end());
  }
  return batch;
}

bool AnnotationJob::step() {
  if (next_ == windows_.size()) {
    done_ = results_.size();
    return false;
  }
  const std::size_t begin = next_;
  const auto [ids, spans, rows] = next_batch();
  const Transformer& transformer = *model_.transformer;
  const Config& c = transformer.config();
  Tape tape(pool_, /*recording=*/false);
  StackRecord record;
  Masks masks = masks_;
  masks.source_spans = spans;
  Var memory = transformer.encode(tape, ids, spans, masks, options_.attention ? &record : nullptr);
  Matrix classes, tags;
  if (c.classes > 0) classes = transformer.classify(tape, memory, spans).value();
  if (c.tags > 0) tags = transformer.tag(tape, memory, rows).value();
  Index row = 0;
  for (std::size_t i = begin; i < next_; ++i) {
    const Window& w = windows_[i];
    if (w.first_word == 0 && c.classes > 0) take_classes(w, classes.row(i - begin));
    if (w.first_word == 0 && options_.attention)
      results_[w.text].attention = attention_maps(record.self_attention, i - begin, c.num_heads, spans[i - begin]);
    const auto count = static_cast<Index>(w.at.size());
    if (c.tags > 0) take_tags(w, tags.middleRows(row, count));
    row += count;
    done_ = w.text;
  }
  return true;
}

std::vector<Annotation> annotate(const ModelFile& model, ThreadPool& pool, const std::vector<std::string>& texts,
                                 const AnnotateOptions& options, Index batch_tokens) {
  AnnotationJob job(model, pool, texts, options, batch_tokens);
  while (job.step()) {
  }
  return job.take();
}

AnnotationScores score(const ModelFile& model, const std::vector<AnnotatedText>& texts,
                       const std::vector<Annotation>& found) {
  const Config& c = model.transformer->config();
  const bool has_classes = c.classes > 0, has_tags = c.tags > 0;
  std::vector<Labels> classes, chosen, tags, found_tags;
  AnnotationScores scores;
  std::size_t right = 0, frames = 0, words = 0, right_words = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    Labels expected = texts[i].classes, own = chosen_labels(found[i], c), own_tags = tag_names(found[i]);
    const Labels& expected_tags = texts[i].tags;
    if (!c.multi_label && has_classes) ++scores.confusion[expected[0]][own.empty() ? "" : own[0]];
    heap_sort(expected);
    heap_sort(own);
    right += expected == own;
    frames += expected == own && expected_tags == own_tags;
    words += expected_tags.size();
    for (std::size_t w = 0; w < std::min(expected_tags.size(), own_tags.size()); ++w)
      right_words += expected_tags[w] == own_tags[w];
    classes.push_back(std::move(expected));
    chosen.push_back(std::move(own));
    tags.push_back(expected_tags);
    found_tags.push_back(std::move(own_tags));
  }
  const auto percent = [](std::size_t part, std::size_t all) {
    return 100 * static_cast<double>(part) / static_cast<double>(std::max<std::size_t>(all, 1));
  };
  scores.exact_match = percent(frames, found.size());
  if (has_classes) {
    scores.by_class = label_scores(classes, chosen);
    scores.figures["accuracy"] = percent(right, found.size());
    scores.figures["macro_f1"] = 100 * macro_f1(scores.by_class);
  }
  if (has_tags) {
    scores.figures["tag_accuracy"] = percent(right_words, words);
    if (are_spans(model.labels.tags)) {
      scores.by_span = span_scores(tags, found_tags);
      scores.figures["span_f1"] = 100 * total(scores.by_span).f1();
    }
  }
  if (has_classes && has_tags) scores.figures["frame_accuracy"] = scores.exact_match;
  return scores;
}

}  // namespace wasmformer
