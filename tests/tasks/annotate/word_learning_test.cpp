#include "tasks/annotate/word_learning.h"

#include <catch_amalgamated.hpp>

#include "tasks/annotate/score_mix.h"
#include "train/run_setup.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

// Many texts of a few words: "hot" or "cold" decides the class, but for "not hot", which is cold.
std::vector<AnnotatedText> weather(Index count, std::uint64_t seed) {
  const std::vector<std::string> fillers{"it", "is", "today", "here", "very"};
  Random random(seed);
  std::vector<AnnotatedText> texts;
  for (Index i = 0; i < count; ++i) {
    const std::vector<std::string> middles{"hot", "cold", "not hot"};
    const std::size_t kind = random.below(3);
    std::string text = fillers[random.below(5)] + " " + middles[kind] + " " + fillers[random.below(5)];
    texts.push_back({.text = std::move(text), .words = {}, .classes = {kind == 0 ? "hot" : "cold"}, .tags = {}});
  }
  return texts;
}

Index best_class(const WordScores& words, const std::string& text) {
  Index best = 0;
  words.scores(word_features(text)).row(0).maxCoeff(&best);
  return best;
}

std::shared_ptr<Texts> labelled(std::vector<AnnotatedText> all) {
  return std::make_shared<AnnotatedTexts>(std::move(all), AnnotatedTexts::Kind{.has_classes = true, .has_tags = false});
}

std::unique_ptr<TrainingSession> run(ThreadPool& pool, const std::string& config = "{}") {
  RunRequest request;
  request.config = {config};
  request.tokenizer = TokenizerRequest{TokenizerType::word, {}, true, {}};
  return RunSetup(request, {labelled(weather(200, 1)), labelled(weather(50, 2))}).begin({}, pool);
}

}  // namespace

TEST_CASE("Weights of words and pairs are learned from few texts, the same ones each time") {
  const WordScores words = learn_word_scores(weather(200, 1), {"cold", "hot"}, {});
  words.check(2);
  for (const char* text : {"it hot here", "so hot"}) CHECK(best_class(words, text) == 1);
  for (const char* text : {"is not hot very", "it cold today", "a cold winter"}) CHECK(best_class(words, text) == 0);
  const WordScores again = learn_word_scores(weather(200, 1), {"cold", "hot"}, {});
  CHECK(again.features == words.features);
  CHECK(again.weights.values == words.weights.values);
}

TEST_CASE("What one text alone has gets no weight, and limits keep the most frequent features") {
  std::vector<AnnotatedText> texts = weather(200, 1);
  texts.push_back({.text = "unique", .words = {}, .classes = {"hot"}, .tags = {}});
  const WordScores words = learn_word_scores(texts, {"cold", "hot"}, {});
  CHECK(words.scores(word_features("unique")).isZero());
  CHECK(learn_word_scores(texts, {"cold", "hot"}, {.max_features = 3}).features.size() == 3);
  CHECK(learn_word_scores(texts, {"cold", "hot"}, {.max_weights = 8}).features.size() == 4);
  const WordScores few = learn_word_scores(texts, {"cold", "hot"}, {.max_features = 3});
  CHECK_FALSE(few.scores(word_features("cold hot")).isZero());  // they are among the most frequent
  const WordScores brief = learn_word_scores(texts, {"cold", "hot"}, {.max_sums = 100});
  CHECK(brief.features.size() < words.features.size());  // of a few texts only
}

TEST_CASE("Rare classes weigh as much as frequent ones if they are balanced, and texts may have several classes") {
  std::vector<AnnotatedText> texts;
  for (int i = 0; i < 60; ++i) {
    const std::string label = i % 6 == 0 ? "rare" : "usual";
    texts.push_back({.text = "word", .words = {}, .classes = {label}, .tags = {}});
  }
  const auto difference = [&](bool balance) {
    const WordScores words = learn_word_scores(texts, {"rare", "usual"}, {.balance_classes = balance});
    const Matrix scores = words.scores(word_features("word"));
    return scores(0, 1) - scores(0, 0);
  };
  CHECK(difference(false) > 1);
  CHECK(std::abs(difference(true)) < 0.7);

  for (AnnotatedText& text : texts) text = {.text = "warm rain", .words = {}, .classes = {"warm", "wet"}, .tags = {}};
  for (int i = 0; i < 60; i += 2) texts[i] = {.text = "dust", .words = {}, .classes = {}, .tags = {}};
  const WordScores several = learn_word_scores(texts, {"warm", "wet"}, {.multi_label = true});
  CHECK(several.scores(word_features("warm rain")).minCoeff() > 1);
  CHECK(several.scores(word_features("dust")).maxCoeff() < -1);
}

TEST_CASE("A classifier has scores of words by default, averages them with its own, and keeps them in its file") {
  ThreadPool pool(1);
  const auto trained = run(pool);
  const ModelFile& model = trained->packed_model();
  REQUIRE(model.words);
  const std::vector<std::string> texts{"is not hot today"};
  const auto logit = [&](const ModelFile& of, bool alone) {
    double of_hot = annotate(of, pool, texts, {.encoder_alone = alone}).at(0).labels.at(0).probability;
    if (annotate(of, pool, texts, {.encoder_alone = alone})[0].labels[0].label == "cold") of_hot = 1 - of_hot;
    return std::log(of_hot / (1 - of_hot));
  };
  const Matrix words = model.words->scores(word_features(texts[0]));
  CHECK(logit(model, false) == Catch::Approx((logit(model, true) + words(0, 1) - words(0, 0)) / 2).epsilon(1e-3));

  const ModelFile read = parse_model(trained->model_file({}));
  REQUIRE(read.words);
  CHECK(read.precision == "f32");
  CHECK(read.words->features == model.words->features);
  CHECK(read.words->weights.values == model.words->weights.values);
  CHECK(logit(read, false) == Catch::Approx(logit(model, false)).epsilon(1e-3));
  CHECK(trained->validate().scores.figures.at("accuracy") > 95);  // before the first step
}

TEST_CASE("A run has no scores of words if they are turned off, and one that is resumed keeps its own") {
  ThreadPool pool(1);
  CHECK_FALSE(run(pool, R"({"word_scores": false})")->model().words);
  const auto first = run(pool);
  first->step();
  RunRequest again;
  again.resume = true;
  RunInput input;
  input.model = first->checkpoint();
  const auto resumed = RunSetup(again, std::move(input)).begin({}, pool);
  REQUIRE(resumed->model().words);
  CHECK(resumed->checkpoint() == first->checkpoint());

  // A model to begin with, which may be better than any words, gets them only on request.
  RunRequest from;
  RunInput model{labelled(weather(200, 1)), labelled(weather(50, 2)), first->model_file({})};
  CHECK_FALSE(RunSetup(from, model).begin({}, pool)->model().words);
  from.config = {R"({"word_scores": true})"};
  CHECK(RunSetup(from, model).begin({}, pool)->model().words);
}

TEST_CASE("A tagger has scores of words in context, and a mix of scores that suits its validation texts") {
  ThreadPool pool(1);
  const auto tagged = [](Index count, std::uint64_t seed) {
    const std::vector<std::string> places{"Rome", "Oslo", "Bern", "Lima"};
    Random random(seed);
    std::vector<AnnotatedText> texts;
    for (Index i = 0; i < count; ++i) {
      const std::string& place = places[random.below(4)];
      texts.push_back(random.below(2) == 0 ? tagged_text({"now", "in", place}, {"O", "O", "B-place"})
                                           : tagged_text({"it", "is", "late"}, {"O", "O", "O"}));
    }
    return std::make_shared<AnnotatedTexts>(texts, AnnotatedTexts::Kind{.has_classes = false, .has_tags = true});
  };
  const auto unknown = [](Index count) {
    std::vector<AnnotatedText> texts;
    for (Index i = 0; i < count; ++i)
      texts.push_back(
          tagged_text({"late", "near", i % 2 == 0 ? "Paris" : "paris"}, {"O", "O", i % 2 == 0 ? "B-place" : "O"}));
    return std::make_shared<AnnotatedTexts>(texts, AnnotatedTexts::Kind{.has_classes = false, .has_tags = true});
  };
  RunRequest request;
  request.tokenizer = TokenizerRequest{TokenizerType::word, {}, true, {}};
  const auto run = RunSetup(request, {tagged(100, 1), unknown(20)}).begin({}, pool);
  REQUIRE(run->model().tag_words);
  CHECK_FALSE(run->model().words);
  const double f1 = run->validate().scores.figures.at("span_f1");
  CHECK(f1 > 0);  // before the first step
  const ModelFile model = parse_model(run->model_file({}));
  REQUIRE(model.tag_words);
  CHECK(model.tag_words->weights.values == run->model().tag_words->weights.values);
  CHECK(model.mix == run->model().mix);
  const std::vector<AnnotatedText> texts = unknown(20)->all;
  const AnnotationScores scores = score(model, texts, [&] {
    AnnotationJob job(model, pool, texts, {});
    while (job.step()) {
    }
    return job.take();
  }());
  CHECK(scores.figures.at("span_f1") == Catch::Approx(f1));  // the file has all that validation used
}

TEST_CASE("Labels and tags can be chosen again with another mix of scores") {
  ThreadPool pool(1);
  std::vector<AnnotatedText> texts;
  for (int i = 0; i < 40; ++i) texts.push_back(tagged_text({"in", "Rome"}, {"O", "B-place"}));
  const auto all =
      std::make_shared<AnnotatedTexts>(texts, AnnotatedTexts::Kind{.has_classes = false, .has_tags = true});
  RunRequest request;
  request.tokenizer = TokenizerRequest{TokenizerType::word, {}, true, {}};
  const auto run = RunSetup(request, {all, all}).begin({}, pool);
  AnnotationJob job(run->packed_model(), pool, texts, {.keeps_scores = true});
  while (job.step()) {
  }
  job.choose_again({.outside_score = 100}, 2);
  CHECK(tag_names(job.results()[0]) == Labels{"O", "O"});
  const Labels tags = tag_names(job.results()[2]);
  job.choose_again({.outside_score = -100}, 2);
  CHECK(tag_names(job.results()[0]) == Labels{"B-place", "B-place"});
  CHECK(tag_names(job.results()[2]) == tags);        // beyond the first two
  job.choose_again({.tag_share = 1}, texts.size());  // what words alone tell, which the encoder has not learned yet
  CHECK(tag_names(job.results()[0]) == Labels{"O", "B-place"});
}

TEST_CASE("Validation chooses the shares with which most labels are right") {
  ThreadPool pool(1);
  const std::vector<AnnotatedText> valid = weather(60, 3);
  const auto trained = run(pool);
  ModelFile model = parse_model(trained->model_file({}));
  // Words that are wrong about everything: the encoder, which knows nothing yet, is right more often.
  for (std::int8_t& weight : model.words->weights.values) weight = static_cast<std::int8_t>(-weight);
  const auto accuracy = [&](const ScoreMix& mix) {
    AnnotationJob job(model, pool, valid, {.keeps_scores = true});
    while (job.step()) {
    }
    job.choose_again(mix, valid.size());
    return score(model, valid, job.take()).figures.at("accuracy");
  };
  AnnotationJob job(model, pool, valid, {.keeps_scores = true});
  while (job.step()) {
  }
  const ScoreMix mix = choose_mix(job, model, valid);
  CHECK(score(model, valid, job.results()).figures.at("accuracy") == accuracy(mix));
  for (const Scalar share : {0.5f, 0.7f, 0.9f}) CHECK(accuracy(mix) >= accuracy({.class_share = share}));
  CHECK(mix.class_share < 0.5f);
}

TEST_CASE(
    "The validation error is the mean of two: that of words and encoder together, and that of the encoder alone") {
  ThreadPool pool(1);
  const std::vector<AnnotatedText> valid = weather(60, 3);
  const auto trained = run(pool);
  const ModelFile model = parse_model(trained->model_file({}));
  const auto texts = labelled(valid);
  const auto inference = texts->task().infer(model, pool, *texts);
  while (inference->step()) {
  }
  const ValidationScores scores = inference->scores();
  AnnotationJob alone(model, pool, valid, {.encoder_alone = true});
  while (alone.step()) {
  }
  const double accuracy = score(model, valid, alone.results()).figures.at("accuracy");
  CHECK(scores.figures.at("accuracy") > 90);
  CHECK(accuracy < 80);  // after no step at all
  CHECK(*scores.error == Catch::Approx(1 - (scores.figures.at("accuracy") + accuracy) / 200));
}
