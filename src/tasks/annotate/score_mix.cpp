#include "tasks/annotate/score_mix.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace wasmformer {
namespace {

// Limits the first texts to as many as can be tagged again for every choice in a short time.
std::size_t texts_to_try(const std::vector<AnnotatedText>& texts, const Config& config) {
  constexpr double most_pairs = 6e7;  // of tags, for each choice
  double pairs = 0;
  std::size_t count = 0;
  for (; count < texts.size() && pairs <= most_pairs; ++count)
    pairs += static_cast<double>(texts[count].words.size()) * static_cast<double>(config.tags * config.tags);
  return count;
}

class MixChoice {
 public:
  MixChoice(AnnotationJob& job, const ModelFile& model, const std::vector<AnnotatedText>& texts)
      : job_(job),
        model_(model),
        texts_(texts.begin(),
               texts.begin() + static_cast<std::ptrdiff_t>(texts_to_try(texts, model.transformer->config()))) {}

  // Gives `number` that one of the candidates with which `figure` is best. It must be good with those beside it as
  // well, as the best depends on chance; among equals, the nearest to the present number is chosen.
  void choose(ScoreMix& mix, Scalar ScoreMix::*number, const std::vector<Scalar>& candidates, const char* figure) {
    const Scalar present = mix.*number;
    std::vector<double> figures;
    for (const Scalar candidate : candidates) {
      mix.*number = candidate;
      job_.choose_again(mix, texts_.size());
      const auto& all = job_.results();
      const std::vector<Annotation> found(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(texts_.size()));
      figures.push_back(score(model_, texts_, found).figures.at(figure));
    }
    std::pair<double, Scalar> best{-1, 0};  // the figure, and how near
    for (std::size_t i = 0; i < figures.size(); ++i) {
      const double mean =
          (figures[i > 0 ? i - 1 : i] + 2 * figures[i] + figures[std::min(i + 1, figures.size() - 1)]) / 4;
      const std::pair own(mean, -std::abs(candidates[i] - present));
      if (own <= best) continue;
      best = own;
      mix.*number = candidates[i];
    }
  }

 private:
  AnnotationJob& job_;
  const ModelFile& model_;
  const std::vector<AnnotatedText> texts_;
};

}  // namespace

ScoreMix choose_mix(AnnotationJob& job, const ModelFile& model, const std::vector<AnnotatedText>& texts) {
  const std::vector<Scalar> shares{0.3f, 0.5f, 0.7f, 0.9f}, scores{1, 0, -1, -2, -3, -4, -5};
  MixChoice choice(job, model, texts);
  ScoreMix mix;
  // First among these, then also halfway to those beside the best.
  const auto choose = [&](Scalar ScoreMix::*number, const std::vector<Scalar>& candidates, const char* figure) {
    choice.choose(mix, number, candidates, figure);
    const Scalar half = (candidates[1] - candidates[0]) / 2, found = mix.*number;
    choice.choose(mix, number, {found - half, found, found + half}, figure);
  };
  if (model.words) choose(&ScoreMix::class_share, shares, "accuracy");
  // A model without scores of words, as those that older programs began, keeps its own choice of tags.
  if (model.tag_words) {
    const bool has_spans = are_spans(model.labels.tags);
    const char* of_tags = has_spans ? "span_f1" : "tag_accuracy";
    if (has_spans) choose(&ScoreMix::outside_score, scores, of_tags);
    choose(&ScoreMix::tag_share, shares, of_tags);
    if (has_spans) choose(&ScoreMix::outside_score, scores, of_tags);
  }
  job.choose_again(mix, texts.size());
  return mix;
}

}  // namespace wasmformer
