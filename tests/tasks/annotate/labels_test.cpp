#include "tasks/annotate/labels.h"

#include <catch_amalgamated.hpp>

#include "schema/error.h"
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
  const ParallelText text = parse_conll("\xEF\xBB\xBFplay\tO\r\njazz\tB-music\n\n\nin\tO\nRome\tB-place", "f.conll");
  CHECK(text.sources == std::vector<std::string>{"play jazz", "in Rome"});
  CHECK(text.targets == std::vector<std::string>{"O B-music", "O B-place"});
  CHECK_THROWS_WITH(parse_conll("play\tO\njazz\n", "f.conll"), ContainsSubstring("line 2 of f.conll"));
  CHECK_THROWS_WITH(parse_conll("play\tO\tx\n", "f.conll"), ContainsSubstring("not a token, a tab and a tag"));
  CHECK_THROWS_WITH(parse_conll("\xFF\tO\n", "f.conll"), ContainsSubstring("line 1 of f.conll is not UTF-8"));
}

TEST_CASE("Annotations are parsed, and written back unchanged") {
  const auto both = Objective::classify_and_tag;
  const Annotation a = parse_annotation("play jazz", "music\tO B-genre", both, false);
  CHECK(a.classes == std::vector<std::string>{"music"});
  CHECK(a.tags == std::vector<std::string>{"O", "B-genre"});
  CHECK(to_string(a, both) == "music\tO B-genre");
  CHECK(parse_annotation("x", "a,b", Objective::classify, true).classes == std::vector<std::string>{"a", "b"});
  CHECK(parse_annotation("x", "", Objective::classify, true).classes.empty());
  CHECK(parse_annotation("x", "a,b", Objective::classify, false).classes == std::vector<std::string>{"a,b"});
  CHECK_THROWS_WITH(parse_annotation("play jazz", "O", Objective::tag, false), ContainsSubstring("2 words but 1 tags"));
  CHECK_THROWS_WITH(parse_annotation("x", "", Objective::classify, false), ContainsSubstring("no label"));
  CHECK_THROWS_WITH(parse_annotation("x", "O", both, false), ContainsSubstring("tab"));
}

TEST_CASE("Label names are sorted, and labels that cannot be learned are refused") {
  const auto names = [](std::vector<std::string> targets) {
    return label_names({std::vector<std::string>(targets.size(), "x"), std::move(targets)}, Objective::classify, false);
  };
  CHECK(names({"b", "a", "b"}).classes == std::vector<std::string>{"a", "b"});
  CHECK_THROWS_WITH(names({"a", "a"}), ContainsSubstring("the same label"));
  CHECK_THROWS_WITH(names({"a", std::string(10000, 'b')}),
                    ContainsSubstring("10000 bytes") && ContainsSubstring("text 2"));
}

TEST_CASE("Raw text is split at spaces, punctuation and Chinese characters") {
  CHECK(strings(split_words("Play \"3,5\" songs, please.")) ==
        std::vector<std::string>{"Play", "\"", "3,5", "\"", "songs", ",", "please", "."});
  CHECK(strings(split_words("去北京\u3000吧")) == std::vector<std::string>{"去", "北", "京", "吧"});
}

TEST_CASE("The first token of a word carries its tag; long texts are cut, and unknown labels left out") {
  const ModelFile m = model(12, {{"music", "travel"}, {"B-place", "O"}});
  const ParallelText text{{"in Rome", "in Rome", "play some jazz in Rome"},
                          {"travel\tO B-place", "other\tO B-place", "music\tO O B-genre O B-place"}};
  const Corpus corpus = annotated_corpus(text, m);
  CHECK(corpus.skipped == 1);
  CHECK(corpus.lines == std::vector<Index>{0, 2});
  const SentencePair& first = corpus.pairs[0];
  CHECK(first.source.size() == 7);  // "in", "Rome" and the end
  CHECK(first.words == std::vector<Index>{0, 2});
  CHECK(first.target == std::vector<TokenId>{1, 0});
  CHECK(first.classes == std::vector<TokenId>{1});
  // "play" and "some" fit into 12 tokens with the end token, "jazz" does not.
  CHECK(corpus.pairs[1].source.size() == 9);
  CHECK(corpus.pairs[1].words == std::vector<Index>{0, 4});
  CHECK_THROWS_WITH(annotated_corpus({{"in"}, {"other\tO"}}, m), ContainsSubstring("none of the 1 texts"));
}
