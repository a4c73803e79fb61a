#include "tasks/translate/translate_options.h"

#include <catch_amalgamated.hpp>

#include "schema/error.h"
#include "tests/tasks/translate/letters_model.h"

using namespace wasmformer;

namespace {

TranslateOptions parse(const std::string& json, Naming naming = Naming::camel) {
  return translate_options(json, letters_config(), naming);
}

}  // namespace

TEST_CASE("Translate options are read from JSON with their JavaScript names") {
  CHECK(parse("{}").beam_size == 4);
  const TranslateOptions all = parse(R"({"beamSize": 5, "lengthPenalty": 1, "nBest": 2, "maxLength": 9,
      "prefix": "ab", "maskedSource": [1, 2], "maskedHeads": [{"attention": "cross", "layer": 1, "head": 0}],
      "attention": true, "topTokens": 3, "beamTrace": true, "internals": true})");
  CHECK((all.beam_size == 5 && all.length_penalty == 1 && all.n_best == 2 && all.max_length == 9));
  CHECK(all.prefix == TextOrTokens("ab"));
  CHECK(all.masked_source == std::vector<Index>{1, 2});
  CHECK(all.masked_heads == std::vector<AttentionHead>{{AttentionHead::cross, 1, 0}});
  CHECK((all.attention && all.top_tokens == 3 && all.beam_trace && all.internals));
  CHECK(parse(R"({"prefix": [5, 6]})").prefix == TextOrTokens(std::vector<TokenId>{5, 6}));
  CHECK(parse(R"({"beam_size": 2})", Naming::snake).beam_size == 2);

  const TranslateOptions drawn = parse(R"({"sampling": {"topK": 3, "topP": 0.5, "seed": 7}})");
  CHECK(drawn.beam_size == 1);
  CHECK((drawn.sampling->top_k == 3 && drawn.sampling->top_p == 0.5 && drawn.sampling->seed == 7));
  CHECK(parse(R"({"sampling": {}, "beamSize": 1})").sampling->temperature == 1);
}

TEST_CASE("Wrong translate options are refused by the name the caller wrote") {
  const auto refused = [](const std::string& json, const std::string& message) {
    CAPTURE(json);
    CHECK_THROWS_WITH(parse(json), "[translate] " + message);
  };
  refused(R"({"beamsize": 2})", "unknown option 'beamsize'; did you mean 'beamSize'?");
  refused(R"({"beamSize": 0})", "beamSize must be a whole number from 1 to 64, not 0");
  refused(R"({"nBest": 5})", "nBest is 5, but beamSize is 4");
  refused(R"({"maxLength": 41})", "maxLength is 41, but the model's max_length is 40");
  refused(R"({"sampling": {"temprature": 1}})", "unknown option 'sampling.temprature'; did you mean 'temperature'?");
  refused(R"({"sampling": {"topP": 0}})", "sampling.topP must be a number above 0 and at most 1, not 0");
  refused(R"({"sampling": {}, "beamSize": 4})", "beamSize is 4, but sampling draws one text; leave one of them out");
  refused(R"({"sampling": {}, "beamTrace": true})", "beamTrace needs beam search; it is not available with sampling");
  refused(R"({"prefix": 5})", "prefix must be a string or an array of token ids, not 5");
  refused(R"({"prefix": [5, -1]})", "prefix[1] must be a whole number of at least 0, not -1");
  refused(R"({"maskedHeads": [{"attention": "cross", "layer": 0}]})", "maskedHeads[0].head is missing");
  refused(R"({"maskedHeads": [{"attention": "heart", "layer": 0, "head": 0}]})",
          "maskedHeads[0].attention must be encoder, decoder or cross, not \"heart\"");
  refused(R"({"maskedHeads": [{"attention": "encoder", "layer": 1, "head": 0}]})",
          "maskedHeads[0] is layer 1, head 0, but there are 1 layers of 2 heads, counted from 0");
}
