#include "tasks/translate/augment.h"

#include <catch_amalgamated.hpp>
#include <regex>
#include <set>

#include "tasks/translate/translate_task.h"
#include "tests/tasks/translate/letters_model.h"
#include "train/run_setup.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

const ParallelText text{
    {"Tom wohnt in Boston.", "Hast du 35 Euro?", "Um 18:30 kommt Maria.", "Anna und Paul singen!", "Toms Hund ist da."},
    {"Tom lives in Boston.", "Do you have 35 euros?", "Maria comes at 18:30.", "Anna and Paul sing!",
     "Tom's dog is here."}};

// The pairs that were added, as "source|target".
std::vector<std::string> added(const Augmentation& shares, const ParallelText& from = text, std::uint64_t seed = 1) {
  const ParallelText all = augmented(from, shares, seed);
  REQUIRE(all.sources.size() == all.targets.size());
  for (std::size_t i = 0; i < from.sources.size(); ++i) {  // the text itself stays as it is
    CHECK(all.sources[i] == from.sources[i]);
    CHECK(all.targets[i] == from.targets[i]);
  }
  std::vector<std::string> pairs;
  for (std::size_t i = from.sources.size(); i < all.sources.size(); ++i)
    pairs.push_back(all.sources[i] + "|" + all.targets[i]);
  return pairs;
}

std::vector<std::string> found(const std::string& in, const std::string& pattern) {
  const std::regex regex(pattern);
  return {std::sregex_token_iterator(in.begin(), in.end(), regex), {}};
}

}  // namespace

TEST_CASE("Shares decide how many pairs are added; the same seed adds the same pairs") {
  CHECK(added({}).empty());
  CHECK(added({.names = 4}).size() == 20);
  CHECK(added({.names = 4}) == added({.names = 4}));
  CHECK(added({.names = 4}) != added({.names = 4}, text, 2));
}

TEST_CASE("Two to four pairs are joined into one, in the same order on both sides") {
  std::set<std::size_t> counts;
  for (const std::string& pair : added({.concat = 8})) {
    const auto marks = found(pair, "[.?!](?=[ |]|$)");
    counts.insert(marks.size() / 2);
    std::string sources, targets;
    for (std::size_t i = 0; i < marks.size(); ++i) (i < marks.size() / 2 ? sources : targets) += marks[i];
    CHECK(sources == targets);
    CHECK(found(pair, "[.?!](?=[^ |])").empty());
  }
  CHECK(counts == std::set<std::size_t>{2, 3, 4});
  const ParallelText chinese{{"你好。"}, {"Hello."}};
  CHECK(added({.concat = 1}, chinese)[0].starts_with("你好。你好。"));
}

TEST_CASE("Names and numbers are swapped in the same way on both sides") {
  std::set<std::string> names;
  for (const std::string& pair : added({.names = 20})) {
    const std::size_t middle = pair.find('|');
    const std::string source = pair.substr(0, middle), target = pair.substr(middle + 1);
    INFO(pair);
    CHECK(found(source, "[0-9:]+") == found(target, "[0-9:]+"));
    std::smatch parts;
    if (std::regex_match(pair, parts, std::regex(R"((\w+) wohnt in (\w+)\.\|(\w+) lives in (\w+)\.)"))) {
      CHECK(parts[1] == parts[3]);
      CHECK(parts[2] == parts[4]);
      names.insert(parts[1]);
    }
    if (std::regex_match(pair, parts, std::regex(R"((\w+)s Hund ist da\.\|(\w+)'s dog is here\.)")))
      CHECK(parts[1] == parts[2]);
  }
  CHECK(names.size() > 3);
  const std::string first = "(To|Bos|Mar|An|Pa)", second = "(om|ton|ria|na|ul)";
  const auto any_other_than = [&](const std::string& pattern) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return !std::regex_match(name, std::regex(pattern)); });
  };
  CHECK(any_other_than("Tom|Boston|Maria|Anna|Paul"));
  CHECK(any_other_than(first + second));  // with a letter changed
}

TEST_CASE("Case changes on both sides, and final punctuation is removed") {
  const ParallelText loud{{"Ein Spaß, Ärger!"}, {"A joke, trouble!"}};
  const auto cases = added({.lowercase = 30, .uppercase = 20}, loud);
  CHECK(std::set<std::string>(cases.begin(), cases.end()) ==
        std::set<std::string>{"ein Spaß, Ärger!|a joke, trouble!", "ein spaß, ärger!|a joke, trouble!",
                              "EIN SPASS, ÄRGER!|A JOKE, TROUBLE!", "ein Spaß, Ärger|a joke, trouble",
                              "ein spaß, ärger|a joke, trouble", "EIN SPASS, ÄRGER|A JOKE, TROUBLE"});
  CHECK(added({.no_final_punctuation = 1}, loud) == std::vector<std::string>{"Ein Spaß, Ärger|A joke, trouble"});
  CHECK(added({.no_final_punctuation = 1}, ParallelText{{"Ja."}, {"Yes"}}).empty());
}

TEST_CASE("A weight repeats pairs or takes an evenly spaced subset") {
  ParallelText numbers;
  for (int i = 0; i < 10; ++i) numbers.sources.push_back(std::to_string(i));
  numbers.targets = numbers.sources;
  CHECK(weighted(numbers, 1).sources == numbers.sources);
  CHECK(weighted(numbers, 0.3).sources == std::vector<std::string>{"3", "6", "9"});
  const ParallelText more = weighted(numbers, 2.5);
  CHECK(more.sources.size() == 25);
  CHECK(more.targets == more.sources);
  CHECK(std::set<std::string>(more.sources.begin(), more.sources.end()).size() == 10);
}

TEST_CASE("A run adds pairs to its training pairs, also when resumed; a task's run cannot") {
  const std::string config =
      R"("config": {"d_model": 16, "ffn_dim": 32, "num_heads": 2, "encoder_layers": 1, "decoder_layers": 1})";
  ThreadPool pool;
  const auto begin = [&](const std::string& more, RunInput input) {
    return RunSetup(run_request("{" + config + more + "}"), std::move(input)).begin({}, pool);
  };
  // By its name, or by its earlier one.
  const std::string name = GENERATE("concat", "join");
  const std::string twice = R"(, "augment": {")" + name + R"(": 2})";
  const auto run = begin(twice + R"(, "tokenizer": {"type": "char"})", {texts_of(text), texts_of(text)});
  CHECK(run->examples().size() == 15);
  CHECK(run->valid_examples().size() == 5);
  run->step();
  RunInput checkpoint;
  checkpoint.model = run->checkpoint();
  CHECK_THROWS_WITH(begin(R"(, "resume": true, "augment": {"join": 3})", checkpoint),
                    ContainsSubstring("another augment"));
  const auto resumed = begin(R"(, "resume": true)", checkpoint);
  CHECK(resumed->examples().size() == 15);
  CHECK(resumed->step().loss == run->step().loss);
  CHECK_THROWS_WITH(begin(twice + R"(, "task": {"name": "copy"})", {}), ContainsSubstring("augment is given"));
  CHECK_THROWS_WITH(begin(R"(, "augment": {")" + name + R"(": -1})", {texts_of(text), texts_of(text)}),
                    ContainsSubstring("augment." + name));
  CHECK_THROWS_WITH(begin(R"(, "augment": {"join": 1, "concat": 1})", {texts_of(text), texts_of(text)}),
                    ContainsSubstring("augment.join is the earlier name of augment.concat"));
}
