#include "tasks/translate/translator.h"

#include <algorithm>
#include <atomic>
#include <catch_amalgamated.hpp>
#include <cmath>
#include <set>
#include <thread>

#include "schema/error.h"
#include "tests/tasks/translate/letters_model.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

std::vector<Translation> translate(const ModelFile& model, const std::vector<std::string>& texts,
                                   const TranslateOptions& options = {}) {
  ThreadPool pool;
  TranslationJob job(model, pool, texts, options);
  while (job.step()) {
  }
  return job.result();
}

const std::vector<std::string> texts{"abc", "", "h", "hgfedcba", "   ", "ab ab"};

bool sums_to_one(const AttentionMaps& maps) {
  if (static_cast<Index>(maps.data.size()) != maps.layers * maps.heads * maps.rows * maps.columns) return false;
  for (std::size_t at = 0; at < maps.data.size(); at += static_cast<std::size_t>(maps.columns)) {
    double sum = 0;
    for (std::size_t j = at; j < at + static_cast<std::size_t>(maps.columns); ++j)
      sum += static_cast<double>(maps.data[j]);
    if (std::abs(sum - 1) > 1e-5) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("An empty text translates to an empty text in any batch") {
  const ModelFile model = letters_model(1, 1);
  const auto alone = translate(model, {""}, {.attention = true, .top_tokens = 2});
  REQUIRE(alone.size() == 1);
  CHECK(alone[0].text.empty());
  CHECK(alone[0].tokens.empty());
  CHECK(translate(model, {}).empty());
  const auto all = translate(model, texts, {.attention = true});
  REQUIRE(all.size() == texts.size());
  CHECK(all[1].text.empty());
  CHECK(all[4].text.empty());
  CHECK(!all[1].attention);
  for (std::size_t i : {0, 2, 3, 5}) {
    const auto one = translate(model, {texts[i]})[0];
    CHECK(all[i].text == one.text);
    CHECK(all[i].score == Catch::Approx(one.score).epsilon(1e-5));
    CHECK(!all[i].tokens.empty());
  }
}

TEST_CASE("The tokens of a translation match its text and its source") {
  const ModelFile model = letters_model(2, 1);
  for (const Translation& t : translate(model, {"abc", "h"})) {
    std::vector<TokenId> ids;
    for (const TargetToken& token : t.tokens) {
      ids.push_back(token.id);
      CHECK(token.piece == model.target_tokenizer->piece(token.id));
      CHECK(token.log_probability <= 0);
    }
    CHECK(model.target_tokenizer->decode(ids) == t.text);
  }
  std::string pieces;
  const Translation t = translate(model, {"abc"})[0];
  for (const SourceToken& token : t.source_tokens) pieces += token.piece + "|";
  CHECK(pieces == "\xE2\x96\x81|a|b|c|</s>|");
}

TEST_CASE("A text is tokenized as it is translated, and whatever its length") {
  ThreadPool pool;
  const LoadedModel translator(serialize_model(letters_model(2, -1), Precision::f32), pool);
  const auto tokens = translator.tokenize(texts);
  const auto translations = translator.translate(texts);
  REQUIRE(tokens.size() == texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto& expected = translations[i].source_tokens;
    REQUIRE(tokens[i].size() == expected.size());
    for (std::size_t t = 0; t < expected.size(); ++t)
      CHECK((tokens[i][t].id == expected[t].id && tokens[i][t].piece == expected[t].piece));
  }
  CHECK(tokens[0].size() == 5);  // the space before, three letters, the end token
  CHECK(tokens[1].size() == 1);
  constexpr std::size_t letters = 100'000;
  const auto long_text = translator.tokenize({std::string(letters, 'a')});
  CHECK(long_text[0].size() == letters + 2);
  CHECK_THROWS_WITH(translator.tokenize({"\xff"}), ContainsSubstring("UTF-8"));
}

TEST_CASE("A text of only emoji is translated like any other") {
  const ModelFile model = letters_model(3, 1);
  const auto t = translate(model, {"\xF0\x9F\x98\x80\xF0\x9F\x8E\x89", "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x9A\x80"});
  REQUIRE(t.size() == 2);
  for (const Translation& one : t) {
    CHECK(!one.tokens.empty());
    CHECK(std::isfinite(one.score));
  }
}

TEST_CASE("A sentence of 5,000 tokens is refused with a message, and the next one works") {
  ThreadPool pool;
  const LoadedModel translator(serialize_model(letters_model(4, 1), Precision::f32), pool);
  CHECK_THROWS_WITH(translator.translate({"ab", std::string(5000, 'a')}, {}),
                    ContainsSubstring("5002 tokens") && ContainsSubstring("40"));
  CHECK(translator.translate({"ab"}, {}).size() == 1);
}

TEST_CASE("Text that is not UTF-8 is refused") {
  const ModelFile model = letters_model(4);
  CHECK_THROWS_WITH(translate(model, {"ab", "a\xFF"}), ContainsSubstring("UTF-8"));
  CHECK_THROWS_WITH(translate(model, {"ab"}, {.prefix = "\xC3"}), ContainsSubstring("UTF-8"));
}

TEST_CASE("The partial text grows by one token per step, up to the result") {
  const ModelFile model = letters_model(5, /*end_bias=*/-2);
  ThreadPool pool;
  const TranslateOptions options{.beam_size = 1, .max_length = 15};
  const std::vector<std::string> some{"abc", "", "h"};
  TranslationJob job(model, pool, some, options);
  CHECK(job.partial() == std::vector<std::string>{"", "", ""});
  const auto expected = translate(model, some, options);
  std::size_t steps = 0;
  for (bool more = true; more;) {
    more = job.step();
    ++steps;
    const auto partial = job.partial();
    REQUIRE(partial.size() == 3);
    CHECK(partial[1].empty());
    for (std::size_t i : {0, 2}) {
      std::vector<TokenId> ids;
      for (const auto& token : expected[i].tokens)
        if (ids.size() < steps) ids.push_back(token.id);
      CHECK(partial[i] == model.target_tokenizer->decode(ids));
    }
  }
  CHECK(!job.step());
  CHECK(steps == std::max(expected[0].tokens.size(), expected[2].tokens.size()));
  CHECK(job.partial()[0] == expected[0].text);
}

TEST_CASE("Attention has a row per chosen token and a column per visible token, and its rows sum to 1") {
  const ModelFile model = letters_model(6, 1);
  const Config& c = model.transformer->config();
  TranslateOptions options{.beam_size = 3, .n_best = 2, .attention = true};
  const std::vector<std::string> some{"abcd", "h"};
  for (const Translation& t : translate(model, some, options)) {
    const Index source = static_cast<Index>(t.source_tokens.size()), target = static_cast<Index>(t.tokens.size());
    REQUIRE(t.attention);
    const auto is = [&](const AttentionMaps& m, Index layers, Index rows, Index columns) {
      return m.layers == layers && m.heads == c.num_heads && m.rows == rows && m.columns == columns;
    };
    CHECK(is(t.attention->encoder, c.encoder_layers, source, source));
    CHECK(is(t.attention->decoder, c.decoder_layers, target, target));
    CHECK(is(t.attention->cross, c.decoder_layers, target, source));
    for (const AttentionMaps* maps : {&t.attention->encoder, &t.attention->decoder, &t.attention->cross})
      CHECK(sums_to_one(*maps));
    // The first step sees the begin token alone.
    for (std::size_t map = 0; map < static_cast<std::size_t>(c.decoder_layers * c.num_heads); ++map)
      CHECK(t.attention->decoder.data[map * static_cast<std::size_t>(target * target)] == 1);
  }
  options.attention = false;
  CHECK(!translate(model, some, options)[0].attention);
}

TEST_CASE("Attention matches the model's over the whole translation") {
  const ModelFile model = letters_model(7, 1);
  // The second best of the first text must not be taken for the second text.
  const auto t = translate(model, {"abcd", "h"}, {.beam_size = 3, .n_best = 3, .attention = true})[1];
  std::vector<TokenId> source, target{2};
  for (const auto& token : t.source_tokens) source.push_back(token.id);
  for (std::size_t i = 0; i + 1 < t.tokens.size(); ++i) target.push_back(t.tokens[i].id);
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  StackRecord record;
  const Spans span = spans_of({static_cast<Index>(source.size())});
  model.transformer->decode(tape, target, spans_of({static_cast<Index>(target.size())}),
                            model.transformer->encode(tape, source, span), span, nullptr, {}, &record);
  std::size_t at = 0;
  for (const AttentionRecord& layer : record.cross_attention)
    for (Scalar p : layer.probabilities[0].reshaped<Eigen::RowMajor>())
      CHECK(std::abs(p - t.attention->cross.data.at(at++)) < 1e-5f);
  CHECK(at == t.attention->cross.data.size());
}

TEST_CASE("Candidates of each step are in order and, in greedy search, begin with the chosen one") {
  const ModelFile model = letters_model(8, 1);
  for (Index k : {1, 3, 100}) {
    const auto t = translate(model, {"abcd"}, {.beam_size = 1, .top_tokens = k})[0];
    for (const TargetToken& token : t.tokens) {
      REQUIRE(static_cast<Index>(token.top->size()) == std::min<Index>(k, 11));  // all but pad and begin
      CHECK((*token.top)[0].id == token.id);
      CHECK(std::abs((*token.top)[0].log_probability - token.log_probability) < 2e-5f);
      for (std::size_t i = 1; i < token.top->size(); ++i)
        CHECK((*token.top)[i].log_probability <= (*token.top)[i - 1].log_probability);
      for (const Candidate& c : *token.top) CHECK(c.piece == model.target_tokenizer->piece(c.id));
    }
  }
}

TEST_CASE("n-best gives the hypotheses of a text in order") {
  const ModelFile model = letters_model(9, 1);
  const auto t = translate(model, {"abc"}, {.beam_size = 4, .n_best = 4})[0];
  REQUIRE(t.alternatives.size() == 3);
  double score = t.score;
  for (const auto& alternative : t.alternatives) {
    CHECK(alternative.score <= score);
    score = alternative.score;
  }
  CHECK(translate(model, {"abc"}, {.beam_size = 4, .n_best = 2})[0].alternatives.size() == 1);
  CHECK(translate(model, {"abc"}, {.beam_size = 4})[0].text == t.text);
}

TEST_CASE("A prefix begins the translation") {
  const ModelFile model = letters_model(10, 1);
  for (const Translation& t : translate(model, {"abc", "h"}, {.prefix = "gg d"})) {
    CHECK(t.text.starts_with("gg d"));
    CHECK(t.tokens.size() > 5);
  }
}

TEST_CASE("A prefix of token ids acts like its text, and may end the sentence") {
  const ModelFile model = letters_model(10, 1);
  using Ids = std::vector<TokenId>;
  const Translation text = translate(model, {"abc"}, {.prefix = "ggd"})[0];
  CHECK(translate(model, {"abc"}, {.prefix = model.target_tokenizer->encode("ggd")})[0].text == text.text);
  // Pieces that no text begins with: what a tree of candidates offers.
  const Translation odd = translate(model, {"abc"}, {.prefix = Ids{7, 1, 7}})[0];
  REQUIRE(odd.tokens.size() > 3);
  CHECK((odd.tokens[0].id == 7 && odd.tokens[1].id == 1 && odd.tokens[2].id == 7));

  const auto whole =
      translate(model, {"abc"}, {.beam_size = 3, .n_best = 3, .prefix = Ids{5, 6, 3}, .attention = true})[0];
  CHECK(whole.text == "ab");
  REQUIRE(whole.tokens.size() == 3);
  CHECK(whole.tokens[2].id == 3);
  CHECK(whole.alternatives.empty());
  CHECK(whole.attention->cross.rows == 3);
  double sum = 0;
  for (const TargetToken& token : whole.tokens) sum += static_cast<double>(token.log_probability);
  CHECK(whole.score == Catch::Approx(sum / std::pow(8.0 / 6, 0.6)));
  CHECK_THROWS_WITH(translate(model, {"abc"}, {.prefix = Ids{5, 3, 6}}), ContainsSubstring("token 3"));
  CHECK_THROWS_WITH(translate(model, {"abc"}, {.prefix = Ids{13}}),
                    ContainsSubstring("token 13") && ContainsSubstring("13"));
  CHECK_THROWS_WITH(translate(model, {"abc"}, {.prefix = Ids{-1}}), ContainsSubstring("prefix[0] must be"));
}

TEST_CASE("A translation has at most max_length tokens, by default 50 more than its source") {
  ModelFile model = letters_model(11, /*end_bias=*/-100);  // never ends by itself
  CHECK(translate(model, {"abc"}, {.max_length = 7})[0].tokens.size() == 7);
  CHECK(translate(model, {"abc"}, {.max_length = 1})[0].tokens.size() == 1);
  CHECK(translate(model, {"abc"})[0].tokens.size() == 40);  // the model's own limit
  Config longer = letters_config();
  longer.max_length = 100;
  auto weights = std::make_unique<Transformer>(longer);
  std::vector<Matrix> values;
  model.transformer->visit([&](const ParameterInfo&, const Parameter& p) { values.push_back(p.value); });
  std::size_t i = 0;
  weights->visit([&](const ParameterInfo&, Parameter& p) { p.value = values[i++]; });
  model.transformer = std::move(weights);
  CHECK(translate(model, {"abc"})[0].tokens.size() == 5 + 50);
}

TEST_CASE("Beam search uses the length penalty in the model's metadata unless the caller gives another") {
  ModelFile model = letters_model(12);
  const auto score = [&](const TranslateOptions& options) { return translate(model, {"abc"}, options)[0].score; };
  const double usual = score({.length_penalty = 0.6}), stronger = score({.length_penalty = 2});
  REQUIRE(usual != stronger);
  CHECK(score({}) == usual);
  model.metadata["length_penalty"] = "2";
  CHECK(score({}) == stronger);
  CHECK(score({.length_penalty = 0.6}) == usual);
  CHECK(length_penalty(model, {}) == 2);
  model.metadata["length_penalty"] = "-1";
  CHECK_THROWS_WITH(score({}), ContainsSubstring("[model] length_penalty must be a number of at least 0, not -1"));
  CHECK(score({.length_penalty = 0.6}) == usual);
}

TEST_CASE("Impossible options are refused by name") {
  const ModelFile model = letters_model(12);
  const auto refused = [&](const TranslateOptions& options, const std::string& message) {
    CHECK_THROWS_WITH(translate(model, {"abc"}, options), ContainsSubstring(message));
    CHECK_THROWS_WITH(translate(model, {""}, options), ContainsSubstring(message));
  };
  refused({.beam_size = 0}, "beam_size must be a whole number from 1 to 64, not 0");
  refused({.beam_size = 65}, "beam_size must be a whole number from 1 to 64, not 65");
  refused({.beam_size = 2, .n_best = 3}, "n_best is 3, but beam_size is 2");
  refused({.n_best = 0}, "n_best must be a whole number of at least 1, not 0");
  refused({.length_penalty = NAN}, "length_penalty must be a number of at least 0, not nan");
  refused({.max_length = -1}, "max_length must be a whole number of at least 0, not -1");
  refused({.max_length = 41}, "max_length is 41, but the model's max_length is 40");
  refused({.max_length = Index{1} << 30}, "the model's max_length is 40");  // before anything is allocated
  refused({.top_tokens = -1}, "top_tokens must be a whole number of at least 0, not -1");
  refused({.sampling = Sampling{.temperature = 0}}, "temperature must be a number above 0, not 0");
  refused({.sampling = Sampling{.temperature = NAN}}, "temperature must be a number above 0, not nan");
  refused({.sampling = Sampling{.top_k = -1}}, "top_k must be a whole number of at least 0, not -1");
  refused({.sampling = Sampling{.top_p = 0}}, "top_p must be a number above 0 and at most 1, not 0");
  refused({.sampling = Sampling{.top_p = 1.5}}, "top_p must be a number above 0 and at most 1, not 1.5");
  refused({.n_best = 2, .sampling = Sampling{}}, "n_best is 2, but beam_size is 1");
  refused({.sampling = Sampling{}, .beam_trace = true},
          "[translate] beam_trace needs beam search; it is not available with sampling");
  refused({.masked_heads = {{AttentionHead::cross, 2, 0}}},
          "masked_heads[0] is layer 2, head 0, but there are 2 layers of 2 heads, counted from 0");
  CHECK_THROWS_WITH(translate(model, {"abc"}, {.max_length = 3, .prefix = "abcd"}),
                    ContainsSubstring("a prefix of 5 tokens leaves no room in a translation of at most 3"));
}

TEST_CASE("Sampling needs no beam_size") {
  const ModelFile model = letters_model(12);
  const TranslateOptions one{.beam_size = 1, .sampling = Sampling{}};
  CHECK(translate(model, {"abc"}, {.sampling = Sampling{}})[0].text == translate(model, {"abc"}, one)[0].text);
}

TEST_CASE("A text is sampled by its place in the whole input, whatever the batches") {
  const ModelFile model = letters_model(14, /*end_bias=*/-3);
  const std::vector<std::string> texts{"abc", "", "h", "abc", "hgfedcba", "abc", "abc"};
  const TranslateOptions options{.max_length = 20, .sampling = Sampling{.seed = 5}};
  std::vector<std::string> expected;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    ThreadPool pool;
    TranslationJob job(model, pool, {texts[i]}, options, /*first=*/i);
    while (job.step()) {
    }
    expected.push_back(job.result()[0].text);
  }
  const std::set<std::string> draws{expected[0], expected[3], expected[5], expected[6]};
  CHECK(draws.size() == 4);  // of the same text
  ThreadPool pool;
  for (Index batch_tokens : {1, 10, 1000}) {
    const auto found = translate_in_batches(model, pool, texts, options, batch_tokens);
    for (std::size_t i = 0; i < texts.size(); ++i) CHECK(found[i].text == expected[i]);
  }
}

TEST_CASE("Batches of any size keep the order of the texts") {
  const ModelFile model = letters_model(13, 1);
  std::vector<std::string> many;
  for (std::size_t i = 0; i < 30; ++i) many.push_back(std::string(i * 7 % 12, static_cast<char>('a' + i % 8)));
  const TranslateOptions options{.beam_size = 2, .max_length = 12};
  std::vector<std::string> expected;
  for (const auto& text : many) expected.push_back(translate(model, {text}, options)[0].text);
  ThreadPool pool(2);
  for (Index batch_tokens : {1, 20, 100000}) {
    std::vector<std::size_t> done;
    const auto all =
        translate_in_batches(model, pool, many, options, batch_tokens, [&](std::size_t n) { done.push_back(n); });
    REQUIRE(all.size() == many.size());
    for (std::size_t i = 0; i < many.size(); ++i) CHECK(all[i].text == expected[i]);
    CHECK(done.back() == many.size());
    CHECK(std::is_sorted(done.begin(), done.end()));
    CHECK((batch_tokens > 1 || done.size() == many.size()));
    CHECK((batch_tokens < 100000 || done.size() == 1));
  }
  for (int threads : {1, 2, 3}) {  // each of them has texts of its own
    ThreadPool several(threads);
    const auto all = translate_in_batches(model, several, many, options, 1000);
    for (std::size_t i = 0; i < many.size(); ++i) CHECK(all[i].score == translate(model, {many[i]}, options)[0].score);
  }
  CHECK(translate_in_batches(model, pool, {}, options, 100).empty());
  many[20] = std::string(5000, 'a');
  CHECK_THROWS_WITH(translate_in_batches(model, pool, many, options, 100),
                    ContainsSubstring("sentence 21") && ContainsSubstring("5002 tokens"));
}

// The tests in WebAssembly are linked without threads.
#ifndef __EMSCRIPTEN__
TEST_CASE("Several threads may use one translator") {
  ThreadPool pool(2);
  const LoadedModel translator(serialize_model(letters_model(15, -1), Precision::f32), pool);
  const TranslateOptions options{.beam_size = 3, .attention = true};
  const auto expected = translator.translate(texts, options);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 20; ++n) {
        const auto found = translator.translate(texts, options);
        for (std::size_t t = 0; t < texts.size(); ++t)
          wrong += found[t].text != expected[t].text || found[t].score != expected[t].score;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}
#endif
