// How options are declared: with a name, a range and one sentence of help. Users of the library set the fields of the
// structs alone; their visit() is for the library's own readers (schema/options.h).
#pragma once

#include <limits>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace wasmformer {

// The numbers that an option may have.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool excludes_low = false, excludes_high = false;

  constexpr Range below(double limit) const { return {low, limit, excludes_low, true}; }
  constexpr Range up_to(double limit) const { return {low, limit, excludes_low, false}; }
};
constexpr Range at_least(double low) { return {.low = low}; }
constexpr Range above(double low) { return {.low = low, .excludes_low = true}; }
constexpr Range between(double low, double high) { return {.low = low, .high = high}; }

struct Option {
  const char* name;             // snake_case
  const char* help;             // one sentence, without a full stop
  Range range = {};             // range of a number, or of each number in a list
  const char* flag = nullptr;   // the program's flag where it is not the name with hyphens
  const char* alias = nullptr;  // an earlier name, also snake_case, which is still read but never written
};

using Words = std::span<const char* const>;
// The words that stand for the values of an enum, in their order.
#define WASMFORMER_ENUM_NAMES(Enum, ...)                \
  inline Words words(Enum) {                            \
    static constexpr const char* all[] = {__VA_ARGS__}; \
    return all;                                         \
  }

using TextOrTokens = std::variant<std::string, std::vector<int>>;
// The text of a JSON object whose keys another struct declares: they are checked where it is read into that one.
struct JsonText {
  std::string text = "{}";
};
using StringMap = std::map<std::string, std::string>;

}  // namespace wasmformer
