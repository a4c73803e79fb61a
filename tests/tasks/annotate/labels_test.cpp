#include "tasks/annotate/labels.h"

#include <catch_amalgamated.hpp>
#include <set>

#include "schema/error.h"
#include "schema/json.h"
#include "schema/options.h"
#include "tasks/annotate/batch.h"
#include "tests/text/tiny_tokenizer.h"
#include "text/vocabulary.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

// A model without weights, whose tokenizer knows these words' characters.
ModelFile model(Index max_length, LabelNames labels) {
  ModelFile file;
  file.source_tokenizer = std::make_shared<const Tokenizer>(character_model({"play some jazz in Rome"}));
  Config c;
  c.source_vocab_size = c.target_vocab_size = file.source_tokenizer->vocab_size();
  c.d_model = 8, c.num_heads = 2, c.encoder_layers = 1, c.decoder_layers = 0, c.max_length = max_length;
  c.classes = static_cast<Index>(labels.classes.size()), c.tags = static_cast<Index>(labels.tags.size());
  file.labels = std::move(labels);
  file.transformer = std::make_unique<Transformer>(c);
  return file;
}

std::vector<std::string> strings(const std::vector<std::string_view>& views) { return {views.begin(), views.end()}; }

}  // namespace

TEST_CASE("CoNLL text is read as sentences with a tag for each word") {
  const auto texts = parse_conll("\xEF\xBB\xBFplay\tO\r\njazz\tB-music\n\n\nin\tO\nRome\tB-place", "f.conll");
  REQUIRE(texts.size() == 2);
  CHECK(texts[0].text == "play jazz");
  CHECK(texts[0].words == std::vector<std::string>{"play", "jazz"});
  CHECK(texts[0].tags == Labels{"O", "B-music"});
  CHECK(texts[1].tags == Labels{"O", "B-place"});
  CHECK_THROWS_WITH(parse_conll("play\tO\njazz\n", "f.conll"), ContainsSubstring("line 2 of f.conll"));
  CHECK_THROWS_WITH(parse_conll("play\n", "f.conll"), ContainsSubstring("not a token, a tab and a tag"));
  CHECK_THROWS_WITH(parse_conll("play\tO\nNew York\tB-place\n", "f.conll"),
                    ContainsSubstring("line 2 of f.conll has 3 columns, but the first line has 2"));
  CHECK_THROWS_WITH(parse_conll("\xFF\tO\n", "f.conll"), ContainsSubstring("line 1 of f.conll is not UTF-8"));
}

TEST_CASE("Columns between word and tag, spaces, document marks and comments of CoNLL files are skipped") {
  // CoNLL-2003, with spaces and four columns
  const char* conll2003 =
      "-DOCSTART- -X- -X- O\n\nEU NNP I-NP I-ORG\nrejects VBZ I-VP O\n \t\n# NN I-NP O\n1 CD I-NP O\n";
  const auto texts = parse_conll(conll2003, "f");
  REQUIRE(texts.size() == 2);
  CHECK(texts[0].words == std::vector<std::string>{"EU", "rejects"});
  CHECK(texts[0].tags == Labels{"I-ORG", "O"});
  CHECK(texts[1].words == std::vector<std::string>{"#", "1"});

  const char* commented = "# sent_id = 1\n# text = play jazz\n#comment\nplay\tO\n#jazz\tB-music\n#\tO\n";
  const auto one = parse_conll(commented, "f");
  REQUIRE(one.size() == 1);
  CHECK(one[0].words == std::vector<std::string>{"play", "#jazz", "#"});
  // A comment may have as many columns as the other lines.
  CHECK(parse_conll("# sent_id = 1\nEU NNP I-NP O\n", "f")[0].words == std::vector<std::string>{"EU"});
  CHECK(parse_conll("# comment\nEU\tO\n", "f")[0].words == std::vector<std::string>{"EU"});
  CHECK(parse_conll("#jazz\tB-music\n", "f")[0].words == std::vector<std::string>{"#jazz"});
  CHECK_THROWS_WITH(parse_conll("#\thttp://x\n1\tEU\tB-ORG\tO\n2\tist\tO\tO\n", "f"),
                    ContainsSubstring("has numbers where its words should be"));
  CHECK_THROWS_WITH(parse_labelled("jazz\n", "f.tsv"),
                    ContainsSubstring("line 1 of f.tsv has 1 column; text and label are columns 1 and 0"));
}

TEST_CASE("Commas separate the labels of a file, if a text may have several") {
  const auto labels = [](const char* file, bool multi_label) {
    AnnotatedTexts texts(parse_labelled(file, "f.tsv"), {.has_classes = true, .commas_separate = true});
    Config c;
    c.multi_label = multi_label;
    texts.settle(c);
    texts.settle(c);  // a second time changes nothing
    return texts.all[0].classes;
  };
  CHECK(labels("a,b\tx\n", true) == Labels{"a", "b"});
  CHECK(labels("\tx\n", true).empty());
  CHECK(labels("a,b\tx\n", false) == Labels{"a,b"});
}

TEST_CASE("Texts with any labels and words are stored in checkpoints and restored, as are those of older ones") {
  Config c;
  c.classes = 2, c.tags = 2, c.decoder_layers = 0, c.multi_label = true;
  AnnotatedText text = tagged_text({"New York", "a,b"}, {"B-a place", "O\t"});
  text.classes = {"a,b", "c\td", " e"};
  const AnnotatedTexts texts({text}, {.has_classes = true, .has_tags = true});
  AnnotatedTexts again;
  again.add_json({nlohmann::json::parse(texts.to_json(0))}, c);
  again.settle(c);
  CHECK(again.all[0].text == text.text);
  CHECK(again.all[0].words == text.words);
  CHECK(again.all[0].classes == text.classes);
  CHECK(again.all[0].tags == text.tags);
  AnnotatedTexts older;
  older.add_json({nlohmann::json::parse(R"(["play jazz", "music,urgent\tO B-genre"])")}, c);
  older.settle(c);
  CHECK(older.all[0].words == std::vector<std::string>{"play", "jazz"});
  CHECK(older.all[0].classes == Labels{"music", "urgent"});
  CHECK(older.all[0].tags == Labels{"O", "B-genre"});
  CHECK_THROWS_WITH(older.add_json({nlohmann::json::parse(R"({"text": 3})")}, c), ContainsSubstring("are damaged"));
}

TEST_CASE("Label names are sorted, and labels that cannot be learned are refused") {
  const auto names = [](const std::vector<Labels>& classes, bool multi_label = false) {
    AnnotatedTexts texts({}, {.has_classes = true});
    for (const Labels& own : classes) texts.all.push_back({.text = "x", .words = {}, .classes = own, .tags = {}});
    return label_names(texts, multi_label).classes;
  };
  CHECK(names({{"b"}, {"a"}, {"b"}}) == Labels{"a", "b"});
  CHECK(names({{"b", "a"}, {}}, true) == Labels{"a", "b"});
  CHECK_THROWS_WITH(names({{"a"}, {"a"}}), ContainsSubstring("the same label"));
  CHECK_THROWS_WITH(names({{"a"}, {""}}), ContainsSubstring("no label") && ContainsSubstring("text 2"));
  CHECK_THROWS_WITH(names({{"a", "b"}}), ContainsSubstring("needs multi_label"));
  CHECK_THROWS_WITH(names({{"a"}, {std::string(10000, 'b')}}),
                    ContainsSubstring("10000 bytes") && ContainsSubstring("text 2"));
  const AnnotatedTexts tagged({tagged_text({"play", "jazz"}, {"O"})}, {.has_tags = true});
  CHECK_THROWS_WITH(label_names(tagged, false), ContainsSubstring("2 words but 1 tags"));
}

TEST_CASE("Raw text is split at spaces, punctuation and Chinese characters") {
  CHECK(strings(split_words("Play \"3,5\" songs, please.")) ==
        std::vector<std::string>{"Play", "\"", "3,5", "\"", "songs", ",", "please", "."});
  CHECK(strings(split_words("去北京\u3000吧")) == std::vector<std::string>{"去", "北", "京", "吧"});
}

TEST_CASE("The first token of a word carries its tag; long texts are cut, and unknown labels left out") {
  const ModelFile m = model(12, {{"music", "travel"}, {"B-place", "O"}});
  const auto text = [](std::vector<std::string> words, Labels tags, const char* label) {
    AnnotatedText text = tagged_text(std::move(words), std::move(tags));
    text.classes = {label};
    return text;
  };
  const AnnotatedExamples examples = annotated_examples(
      {text({"in", "Rome"}, {"O", "B-place"}, "travel"), text({"in", "Rome"}, {"O", "B-place"}, "other"),
       text({"play", "some", "jazz", "in", "Rome"}, {"O", "O", "B-genre", "O", "B-place"}, "music")},
      m);
  CHECK(examples.skipped == 1);
  CHECK(examples.lines == std::vector<Index>{0, 2});
  const AnnotatedExamples::Example& first = examples.all[0];
  CHECK(first.source.size() == 7);  // "in", "Rome" and the end
  CHECK(first.words == std::vector<Index>{0, 2});
  CHECK(first.tags == std::vector<TokenId>{1, 0});
  CHECK(first.classes == std::vector<TokenId>{1});
  // "play" and "some" fit into 12 tokens with the end token, "jazz" does not.
  CHECK(examples.all[1].source.size() == 9);
  CHECK(examples.all[1].words == std::vector<Index>{0, 4});
  CHECK_THROWS_WITH(annotated_examples({text({"in"}, {"O"}, "other")}, m), ContainsSubstring("none of the 1 texts"));
}

TEST_CASE("BPE-dropout splits the pieces of a batch differently each time, in training only; tags stay with words") {
  const std::vector<AnnotatedText> texts = parse_conll("abab\tB-a\nab\tO\nabab\tB-b\n", "f.conll");
  ModelFile file = model(512, {.classes = {}, .tags = {"B-a", "B-b", "O"}});
  file.source_tokenizer = std::make_shared<const Tokenizer>(tiny::model({"a", "b", "ab", "abab"}, "", tiny::bpe_model));
  const Tokenizer& tokenizer = *file.source_tokenizer;
  TrainingConfig training;
  training.bpe_dropout = 0.5;
  const auto examples = annotate_task().examples(AnnotatedTexts(texts, {.has_tags = true}), file, training);
  const auto spelled = [&](std::uint64_t seed, bool is_training) {
    const std::unique_ptr<TaskBatch> batch = examples->pack(std::vector<Index>{0}, *file.transformer, training);
    batch->hide(seed, is_training);
    return static_cast<const AnnotatedBatch&>(*batch);
  };
  const AnnotatedBatch whole = spelled(1, false);
  std::set<std::vector<TokenId>> spellings;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const AnnotatedBatch split = spelled(seed, true);
    CHECK(tokenizer.decode(split.source) == tokenizer.decode(whole.source));
    CHECK(split.source_spans == Spans{{0, static_cast<Index>(split.source.size())}});
    CHECK(split.tags == whole.tags);
    REQUIRE(split.tagged.size() == 3);
    // Each tag is at the first piece of its word.
    for (std::size_t word = 0; word < split.tagged.size(); ++word) {
      const auto before = [&](const AnnotatedBatch& batch) {
        return tokenizer.decode({batch.source.begin(), batch.source.begin() + batch.tagged[word]});
      };
      CHECK(before(split) == before(whole));
    }
    spellings.insert(split.source);
  }
  CHECK(spellings.size() > 5);
  CHECK(spelled(7, true).source == spelled(7, true).source);

  file.source_tokenizer = std::make_shared<const Tokenizer>(character_model({"ab"}));
  CHECK_THROWS_WITH(annotate_task().examples(AnnotatedTexts(texts, {.has_tags = true}), file, training),
                    ContainsSubstring("bpe_dropout has no effect"));
}
