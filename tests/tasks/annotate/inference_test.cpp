#include "tasks/annotate/inference.h"

#include <catch_amalgamated.hpp>

#include "tasks/mask/mask_task.h"
#include "tasks/translate/translator.h"
#include "train/run_setup.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

JsonText object(const std::string& json) { return {json}; }

// Texts of some of six words: the class is whether "jazz" is among them, and each word after "in" is a place.
std::vector<AnnotatedText> annotated(Index count, std::uint64_t seed) {
  const std::vector<std::string> words{"play", "some", "jazz", "in", "rome", "now"};
  Random random(seed);
  std::vector<AnnotatedText> texts;
  for (Index i = 0; i < count; ++i) {
    std::vector<std::string> drawn;
    Labels tags;
    std::string label = "other", before;
    for (std::uint64_t n = 2 + random.below(4); n > 0; --n) {
      const std::string& word = words[random.below(words.size())];
      drawn.push_back(word);
      tags.push_back(before == "in" ? "B-place" : "O");
      if (word == "jazz") label = "music";
      before = word;
    }
    texts.push_back(tagged_text(drawn, tags));
    texts.back().classes = {label};
  }
  return texts;
}

std::vector<std::string> contents(const std::vector<AnnotatedText>& texts) {
  std::vector<std::string> all;
  for (const AnnotatedText& text : texts) all.push_back(text.text);
  return all;
}

std::shared_ptr<Texts> texts(std::vector<AnnotatedText> all, bool has_classes, bool has_tags) {
  return std::make_shared<AnnotatedTexts>(std::move(all),
                                          AnnotatedTexts::Kind{.has_classes = has_classes, .has_tags = has_tags});
}

std::unique_ptr<TrainingSession> run(ThreadPool& pool, std::shared_ptr<Texts> train, std::shared_ptr<Texts> valid) {
  RunRequest request;
  request.config = object(
      R"({"d_model": 32, "ffn_dim": 64, "num_heads": 2, "dropout": 0, "schedule": "constant", "learning_rate": 3e-3})");
  request.tokenizer = TokenizerRequest{TokenizerType::word, {}, true, {}};
  return RunSetup(request, {std::move(train), std::move(valid)}).begin({}, pool);
}

LabelNames tags_of(std::vector<std::string> tags, TagScheme scheme = TagScheme::iob2) { return {{}, tags, scheme}; }

}  // namespace

TEST_CASE("An encoder learns to classify and tag at once, and resumes from its checkpoint with identical bytes") {
  ThreadPool pool(2);
  const auto whole = run(pool, texts(annotated(300, 1), true, true), texts(annotated(60, 2), true, true));
  std::string checkpoint;
  for (int i = 0; i < 300; ++i) {
    whole->step();
    if (i == 149) checkpoint = whole->checkpoint();
  }
  const Validation v = whole->validate();
  CHECK(v.scores.figures.at("accuracy") > 95);
  CHECK(v.scores.figures.at("span_f1") > 90);
  CHECK(v.scores.figures.at("frame_accuracy") > 90);
  CHECK(v.is_best);
  CHECK(whole->model().metadata.at("valid_accuracy") == fixed(v.scores.figures.at("accuracy"), 2));
  CHECK(v.scores.further.at("exact_match") > 90);

  RunRequest again;
  again.resume = true;
  RunInput input;
  input.model = checkpoint;
  const auto resumed = RunSetup(again, std::move(input)).begin({}, pool);
  for (int i = 150; i < 300; ++i) resumed->step();
  resumed->validate();
  CHECK(resumed->model_file() == whole->model_file());

  SECTION("of text as people write it, longer than the model, with attention and int8") {
    ModelFile model = parse_model(whole->model_file());
    model.transformer->quantize();
    std::string text = "play jazz in rome";
    Annotation found = annotate(model, pool, {text}, {.attention = true})[0];
    CHECK(found.labels[0].label == "music");
    CHECK(found.labels[0].probability > 0.9);
    REQUIRE(found.words.size() == 4);
    CHECK(found.words[3].tag == "B-place");
    CHECK(text.substr(found.words[3].begin, found.words[3].size) == "rome");
    CHECK(found.attention->rows == 5);  // the words and the end token
    for (int i = 0; i < 400; ++i) text += " now in rome";
    found = annotate(model, pool, {text, ""})[0];
    CHECK(found.is_truncated);
    CHECK(found.words.size() == 1204);
    CHECK_FALSE(found.words.back().tag.empty());
  }
  SECTION("with the same result in any batch") {
    ModelFile model = parse_model(whole->model_file(), Weights::packed);
    const std::vector<std::string> texts = contents(annotated(20, 3));
    const auto small = annotate(model, pool, texts, {}, 1), large = annotate(model, pool, texts, {}, 4096);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      CHECK(small[i].labels[0].probability == large[i].labels[0].probability);
      for (std::size_t w = 0; w < small[i].words.size(); ++w) CHECK(small[i].words[w].tag == large[i].words[w].tag);
    }
  }
  SECTION("and cannot translate") {
    const ModelFile model = parse_model(whole->model_file());
    CHECK_THROWS_WITH(TranslationJob(model, pool, {std::string("play")}, {}), ContainsSubstring("no decoder"));
  }
}

TEST_CASE("Masked training predicts hidden words, and its encoder can be fine-tuned") {
  ThreadPool pool(2);
  const auto masked = run(pool, std::make_shared<PlainTexts>(contents(annotated(300, 1))),
                          std::make_shared<PlainTexts>(contents(annotated(60, 2))));
  const double before = masked->validate().loss;
  for (int i = 0; i < 100; ++i) masked->step();
  CHECK(masked->validate().loss < 0.8 * before);

  RunRequest request;
  request.config = object(R"({"learning_rate": 1e-3, "dropout": 0})");
  RunInput input;
  input.model = masked->model_file();
  input.train = texts(annotated(100, 1), true, false);
  input.valid = texts(annotated(40, 2), true, false);
  const auto tuned = RunSetup(request, std::move(input)).begin({}, pool);
  for (int i = 0; i < 60; ++i) tuned->step();
  CHECK(tuned->validate().scores.figures.at("accuracy") > 90);
}

TEST_CASE("With several labels per text, each has its own probability") {
  ThreadPool pool(2);
  RunRequest request;
  request.config = object(
      R"({"d_model": 32, "ffn_dim": 64, "num_heads": 2, "dropout": 0, "schedule": "constant", "learning_rate": 3e-3,
                       "multi_label": true, "label_smoothing": 0})");
  request.tokenizer = TokenizerRequest{TokenizerType::word, {}, true, {}};
  std::vector<AnnotatedText> all;
  for (const std::string& text : contents(annotated(300, 1))) {
    Labels labels;
    for (const char* word : {"jazz", "rome"})
      if (text.find(word) != text.npos) labels.emplace_back(word);
    all.push_back({.text = text, .words = {}, .classes = labels, .tags = {}});
  }
  // Of one text, the order of the labels does not matter.
  const std::vector<AnnotatedText> both{{.text = "rome jazz", .words = {}, .classes = {"rome", "jazz"}, .tags = {}},
                                        {.text = "jazz rome", .words = {}, .classes = {"jazz", "rome"}, .tags = {}}};
  RunInput input;
  input.train = texts(std::move(all), true, false);
  input.valid = texts(both, true, false);
  const auto trained = RunSetup(request, std::move(input)).begin({}, pool);
  for (int i = 0; i < 150; ++i) trained->step();
  const ValidationScores scores = trained->validate().scores;
  CHECK(scores.figures.at("accuracy") == 100);
  CHECK(scores.further.at("exact_match") == 100);
  const ModelFile model = parse_model(trained->model_file(), Weights::packed);
  const Config& config = model.transformer->config();
  const auto found = annotate(model, pool, {"rome jazz", "now rome", "play now"});
  CHECK(chosen_labels(found[0], config).size() == 2);
  CHECK(chosen_labels(found[1], config) == Labels{"rome"});
  CHECK(chosen_labels(found[2], config).empty());
}

TEST_CASE("Labels of validation texts are checked before the first step") {
  ThreadPool pool(1);
  const auto refused = [&](const Labels& classes, const char* why) {
    const std::vector<AnnotatedText> valid{{.text = "play", .words = {}, .classes = classes, .tags = {}}};
    CHECK_THROWS_WITH(run(pool, texts(annotated(50, 1), true, false), texts(valid, true, false)),
                      ContainsSubstring("validation: ") && ContainsSubstring(why) && ContainsSubstring("text 1"));
  };
  refused({"music", "other"}, "needs multi_label");
  refused({}, "no label");
}

TEST_CASE("The best tags form a valid BIO sequence") {
  const std::vector<std::string> tags{"B-x", "B-y", "I-x", "I-y", "O"};
  Matrix p = Matrix::Constant(3, 5, -3);
  p(0, 4) = -1, p(0, 0) = Scalar(-1.2);  // O is a little better than B-x
  p(1, 2) = Scalar(-0.1);                // but I-x needs one of them
  p(2, 3) = Scalar(-0.1), p(2, 2) = Scalar(-0.2);
  CHECK(best_tags(p, tags_of(tags)) == std::vector<Index>{0, 2, 2});
  CHECK(best_tags(p, tags_of({"a", "b", "c", "d", "e"})) == std::vector<Index>{4, 2, 3});
  // Without B- tags, I- begins a span.
  CHECK(best_tags(p, tags_of({"I-u", "I-v", "I-x", "I-y", "O"})) == std::vector<Index>{4, 2, 3});
  CHECK(best_tags(p.leftCols(2), tags_of({"I-x", "I-y"})) == std::vector<Index>{0, 0, 0});
  // With transitions the best sequence need not have the best tag of any word.
  Matrix transitions = Matrix::Zero(5, 5);
  transitions(1, 1) = 100;
  CHECK(best_tags(p, tags_of({"a", "b", "c", "d", "e"}), transitions) == std::vector<Index>{1, 1, 1});
}

TEST_CASE("Tags keep to the scheme of the texts that they were learned from") {
  const std::vector<std::string> tags{"B-x", "B-y", "I-x", "I-y", "O"};
  Matrix p = Matrix::Constant(3, 5, -3);
  p(0, 2) = -1, p(0, 4) = Scalar(-1.2);  // the best of each word: I-x, B-y, O
  p(1, 1) = -1, p(1, 0) = Scalar(-1.2);  // then B-x
  p(2, 4) = -1;
  CHECK(best_tags(p, tags_of(tags, TagScheme::iob1)) == std::vector<Index>{2, 0, 4});  // y has not begun before B-y
  CHECK(best_tags(p, tags_of(tags, TagScheme::iob2)) == std::vector<Index>{4, 1, 4});
  CHECK(best_tags(p, tags_of(tags, TagScheme::any)) == std::vector<Index>{2, 1, 4});
}
