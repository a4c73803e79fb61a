#include "schema/options.h"

#include <array>
#include <catch_amalgamated.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "schema/error.h"
#include "schema/json.h"

using namespace wasmformer;

namespace {

enum class Colour { red, green };
Words words(Colour) {
  static constexpr std::array all{"red", "green"};
  return all;
}

struct Point {
  long x = 0;
  Colour colour = Colour::red;
  template <class Visitor>
  void visit(Visitor&& v) {
    v({"x", "from left to right", at_least(0)}, x);
    v({"colour", "its colour"}, colour);
  }
};

struct Example {
  long beam_size = 4;
  double top_p = 1;
  bool is_open = false;
  std::uint64_t seed = 1;
  std::string name = "none";
  std::optional<Point> origin;
  std::vector<Point> points;
  TextOrTokens start;
  std::vector<long> numbers;
  std::vector<std::string> names;
  template <class Visitor>
  void visit(Visitor&& v) {
    v({"beam_size", "hypotheses", between(1, 64)}, beam_size);
    v({"top_p", "share", above(0).up_to(1)}, top_p);
    v({"is_open", "whether it is open"}, is_open);
    v({"seed", "seed"}, seed);
    v({"name", "its name"}, name);
    v({"origin", "where it begins"}, origin);
    v({"points", "further points"}, points);
    v({"start", "what it starts with"}, start);
    v({"numbers", "some numbers", at_least(0)}, numbers);
    v({"names", "some names"}, names);
  }
};

}  // namespace

TEST_CASE("Options survive JSON in either naming style") {
  Example e;
  e.beam_size = 7, e.top_p = 0.1 + 0.2, e.is_open = true, e.seed = 18446744073709551615u;
  e.name = "ä \"quoted\"";
  e.origin = {3, Colour::green};
  e.points = {{1, Colour::red}, {2, Colour::green}};
  e.start = std::vector<int>{3, 4};
  e.numbers = {5, 6};
  e.names = {"a,b"};
  const Naming naming = GENERATE(Naming::snake, Naming::camel);
  const std::string json = to_json(fields(e), naming);
  Example again;
  from_json(json, fields(again), "test", naming);
  CHECK(again.beam_size == 7);
  CHECK(again.top_p == 0.1 + 0.2);
  CHECK(again.is_open);
  CHECK(again.seed == 18446744073709551615u);
  CHECK(again.name == e.name);
  CHECK(again.origin.value().colour == Colour::green);
  CHECK(again.points.at(1).x == 2);
  CHECK(again.start == TextOrTokens(std::vector<int>{3, 4}));
  CHECK(again.numbers == e.numbers);
  CHECK(again.names == e.names);
  CHECK(to_json(fields(again), naming) == json);
  CHECK(nlohmann::json::parse(json).contains(naming == Naming::camel ? "beamSize" : "beam_size"));
}

TEST_CASE("Unset options are absent from JSON, and null unsets an option") {
  Example e;
  CHECK_FALSE(nlohmann::json::parse(to_json(fields(e))).contains("origin"));
  e.origin = {3, Colour::green};
  from_json(R"({"origin": null})", fields(e), "test");
  CHECK_FALSE(e.origin);
}

TEST_CASE("Invalid options are refused by name, with the expected and given values") {
  const auto [json, message] = GENERATE(table<std::string, std::string>({
      {R"({"beamSize": 0})", "beamSize must be a whole number from 1 to 64, not 0"},
      {R"({"beamSize": 2.5})", "beamSize must be a whole number from 1 to 64, not 2.5"},
      {R"({"beamSize": "4"})", "beamSize must be a whole number from 1 to 64, not \"4\""},
      {R"({"beamSize": 1e99})", "beamSize must be a whole number from 1 to 64, not 1e+99"},
      {R"({"beamsize": 2})", "unknown option 'beamsize'; did you mean 'beamSize'?"},
      {R"({"quark": 2})", "unknown option 'quark'"},
      {R"({"topP": 0})", "topP must be a number above 0 and at most 1, not 0"},
      {R"({"topP": null})", "topP must be a number above 0 and at most 1, not null"},
      {R"({"isOpen": 1})", "isOpen must be true or false, not 1"},
      {R"({"seed": -1})", "seed must be a whole number of at least 0, not -1"},
      {R"({"name": 3})", "name must be a string, not 3"},
      {R"({"origin": 3})", "origin must be an object, not 3"},
      {R"({"origin": {"y": 3}})", "unknown option 'origin.y'"},
      {R"({"origin": {"x": -1}})", "origin.x must be a whole number of at least 0, not -1"},
      {R"({"points": {}})", "points must be an array, not {}"},
      {R"({"points": [{"x": 1, "colour": "blue"}]})", "points[0].colour must be red or green, not \"blue\""},
      {R"({"points": [{"x": 1}]})", "points[0].colour is missing"},
      {R"({"start": 5})", "start must be a string or an array of token ids, not 5"},
      {R"({"start": [1, -1]})", "start[1] must be a whole number of at least 0, not -1"},
      {R"({"numbers": [1, -2]})", "numbers[1] must be a whole number of at least 0, not -2"},
      {R"([1])", "the options must be a JSON object, not array"},
      {"", "invalid JSON"},
      {"{\"\xFF\": 1}", "invalid JSON"},
      {"{\"beamSize\":" + std::string(100000, '['), "the JSON is nested too deeply"},
  }));
  Example e;
  CHECK_THROWS_WITH(from_json(json, fields(e), "test", Naming::camel),
                    Catch::Matchers::StartsWith("[test] " + message));
}

TEST_CASE("Values set in C++ are checked too, including nested ones") {
  Example e;
  check_ranges(fields(e), "test");
  e.points = {{1, Colour::red}, {-2, Colour::red}};
  CHECK_THROWS_WITH(check_ranges(fields(e), "test"), "[test] points[1].x must be a whole number of at least 0, not -2");
  e.points.clear();
  e.numbers = {3, -4};
  CHECK_THROWS_WITH(check_ranges(fields(e), "test"), "[test] numbers[1] must be a whole number of at least 0, not -4");
  e.numbers.clear();
  e.top_p = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(check_ranges(fields(e), "test", Naming::camel),
                    "[test] topP must be a number above 0 and at most 1, not nan");
}

namespace {

struct Renamed {
  long lowercase = 0;
  double share_of_names = 0;
  template <class Visitor>
  void visit(Visitor&& v) {
    v({.name = "lowercase", .help = "lines", .range = at_least(0), .alias = "small"}, lowercase);
    v({.name = "share_of_names", .help = "share", .alias = "name_share"}, share_of_names);
  }
};
struct Outer {
  std::vector<Renamed> parts;
  template <class Visitor>
  void visit(Visitor&& v) {
    v({"parts", "parts"}, parts);
  }
};

// The code of what is thrown, or none.
template <class F>
std::optional<ErrorCode> code_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.code();
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("An option is read under its earlier name too, and written under its new one") {
  Renamed r;
  from_json(R"({"small": 2, "name_share": 0.5})", fields(r), "test");
  CHECK(to_json(fields(r)) == R"({"lowercase":2,"share_of_names":0.5})");
  from_json(R"({"nameShare": 0.25})", fields(r), "test", Naming::camel);
  CHECK(r.share_of_names == 0.25);
  set_field(fields(r), "small", "3", "test");
  CHECK(r.lowercase == 3);
  set_each(fields(r), {{"small", "4"}, {"small", "5"}, {"share_of_names", "1"}}, "test");
  CHECK(r.lowercase == 5);
  CHECK(current_name(fields(r), "small", "test") == "lowercase");
  CHECK_THROWS_WITH(from_json(R"({"small": -1})", fields(r), "test"),
                    "[test] small must be a whole number of at least 0, not -1");
  CHECK_THROWS_WITH(from_json(R"({"smal": 1})", fields(r), "test"), "[test] unknown option 'smal'");
  Outer outer;
  from_json(R"({"parts": [{"small": 1, "share_of_names": 2}]})", fields(outer), "test");
  CHECK(outer.parts[0].lowercase == 1);
  const auto described = schema(fields(r), Naming::camel);
  CHECK(described[0]["alias"] == "small");
  CHECK(described[1]["alias"] == "nameShare");
}

TEST_CASE("An option under both of its names is refused, with a code") {
  Renamed r;
  Outer outer;
  CHECK_THROWS_WITH(from_json(R"({"small": 1, "lowercase": 1})", fields(r), "test"),
                    "[test] small is the earlier name of lowercase; give one of them");
  CHECK_THROWS_WITH(from_json(R"({"parts": [{"nameShare": 1, "shareOfNames": 1, "small": 1}]})", fields(outer), "test",
                              Naming::camel),
                    "[test] parts[0].nameShare is the earlier name of parts[0].shareOfNames; give one of them");
  CHECK(code_of([&] { from_json(R"({"small": 1, "lowercase": 1})", fields(r), "test"); }) == ErrorCode::option_twice);
  CHECK(code_of([&] { set_each(fields(r), {{"small", "1"}, {"lowercase", "1"}}, "test"); }) == ErrorCode::option_twice);
}

TEST_CASE("The fields of a const struct can be written and checked, but not set") {
  const Renamed r{.lowercase = -1, .share_of_names = 0.5};
  CHECK(to_json(fields(r)) == R"({"lowercase":-1,"share_of_names":0.5})");
  CHECK_THROWS_WITH(check_ranges(fields(r), "test"), "[test] lowercase must be a whole number of at least 0, not -1");
  static_assert(std::is_same_v<decltype(fields(r)), ConstFields>);
}

TEST_CASE("A command-line word sets one field") {
  Example e;
  set_field(fields(e), "top_p", ".5", "test");
  set_field(fields(e), "name", "12", "test");
  set_field(fields(e), "numbers", "1,2,3", "test");
  set_field(fields(e), "names", "12,b", "test");
  CHECK(e.top_p == 0.5);
  CHECK(e.name == "12");
  CHECK(e.numbers == std::vector<long>{1, 2, 3});
  CHECK(e.names == std::vector<std::string>{"12", "b"});
  CHECK_THROWS_WITH(set_field(fields(e), "numbers", "1,x", "test"),
                    "[test] numbers[1] must be a whole number of at least 0, not \"x\"");
  CHECK_THROWS_WITH(set_field(fields(e), "beam", "1", "test"),
                    "[test] unknown option 'beam'; did you mean 'beam_size'?");
}

TEST_CASE("The schema describes every option") {
  Example e;
  const auto all = nlohmann::json(schema(fields(e), Naming::camel));
  CHECK(all[0] == nlohmann::json::parse(R"({"name": "beamSize", "default": 4, "type": "integer",
      "minimum": 1.0, "maximum": 64.0, "help": "hypotheses"})"));
  CHECK(all[1]["exclusiveMinimum"] == 0);
  CHECK(all[5]["type"] == "group");
  CHECK(all[5]["optional"] == true);
  CHECK_FALSE(all[5].contains("default"));
  CHECK(all[5]["fields"][1]["choices"] == nlohmann::json{"red", "green"});
  CHECK(all[6]["item"]["fields"][0]["name"] == "x");
  CHECK(all[8]["item"]["type"] == "integer");
  CHECK_FALSE(e.origin);
  CHECK(e.points.empty());
}
