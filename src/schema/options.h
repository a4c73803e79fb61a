// Options, each declared once: a struct's visit() gives every field its name, range and one sentence of help,
// and its initialiser is the default. JSON, checks, the program's flags, --help and options.json come from
// that.
//
//   struct Options {
//     Index beam_size = 4;
//     template <class Visitor>
//     void visit(Visitor&& v) {
//       v({"beam_size", "hypotheses kept at each step; 1 is greedy search", between(1, 64)}, beam_size);
//     }
//   };
//
// A field is a bool, whole number, double, string, TextOrTokens, an enumeration with words(), a struct with
// visit(), a std::optional or std::vector of these, a JsonObject, or a StringMap. words(E) returns the words of
// enumeration E in its order.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace wasmformer {

// Of a number.
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
  const char* name;            // snake_case
  const char* help;            // one sentence, without a full stop
  Range range = {};            // of a number, or of each number in a list
  const char* flag = nullptr;  // the program's flag where it is not the name with hyphens
};

using Words = std::span<const char* const>;
// The words that stand for the values of an enum, in their order.
#define WASMFORMER_WORDS(Enum, ...)                     \
  inline Words words(Enum) {                            \
    static constexpr const char* all[] = {__VA_ARGS__}; \
    return all;                                         \
  }

using TextOrTokens = std::variant<std::string, std::vector<int>>;
struct JsonObject;  // schema/json.h
using StringMap = std::map<std::string, std::string>;

struct Field;
using Fields = std::vector<Field>;
struct Value;

// Views of a field, which they must not outlive.
namespace field_views {
struct Choice {
  Words words;
  std::function<std::size_t()> get;
  std::function<void(std::size_t)> set;
};
struct Group {
  std::function<Fields()> fields;
};
struct Optional {
  std::function<bool()> has;
  std::function<Value()> make;  // replaces what was there
  std::function<Value()> value;
  std::function<void()> reset;
};
struct List {
  std::function<std::size_t()> size;
  std::function<void(std::size_t)> resize;  // all elements become defaults
  std::function<Value(std::size_t)> at;
};
}  // namespace field_views
struct Value : std::variant<bool*, int*, long*, long long*, unsigned long*, unsigned long long*, double*, std::string*,
                            TextOrTokens*, JsonObject*, StringMap*, field_views::Choice, field_views::Group,
                            field_views::Optional, field_views::List> {
  using variant::variant;
};
struct Field {
  Option option;
  Value value;
};

template <class Options>
Fields fields(Options& options);

template <class Choice>
std::string word(Choice choice) {
  return words(choice)[static_cast<std::size_t>(choice)];
}

template <class T>
concept Struct = requires(T t) {
  t.visit([](const Option&, auto&) {});
};

template <class T>
Value view(T& field) {
  if constexpr (std::is_enum_v<T>) {
    return field_views::Choice{words(T{}), [&field] { return static_cast<std::size_t>(field); },
                               [&field](std::size_t i) { field = static_cast<T>(i); }};
  } else if constexpr (Struct<T>) {
    return field_views::Group{[&field] { return fields(field); }};
  } else {
    return &field;
  }
}

template <class T>
Value view(std::optional<T>& field) {
  return field_views::Optional{[&field] { return field.has_value(); }, [&field] { return view(field.emplace()); },
                               [&field] { return view(*field); }, [&field] { field.reset(); }};
}

template <class T>
Value view(std::vector<T>& field) {
  return field_views::List{[&field] { return field.size(); }, [&field](std::size_t n) { field.assign(n, T{}); },
                           [&field](std::size_t i) { return view(field[i]); }};
}

// Of one struct; the fields of several can be joined.
template <class Options>
Fields fields(Options& options) {
  Fields all;
  options.visit([&all](const Option& option, auto& field) { all.push_back({option, view(field)}); });
  return all;
}
Fields operator+(Fields a, const Fields& b);

enum class Naming { snake, camel };  // beam_size, or beamSize as in JavaScript
std::string named(const char* snake_name, Naming naming);

// Errors begin with "[place]" and name the option and its value.
// Sets the fields that the JSON object has. Throws Error for what is not JSON, an unknown name, a wrong type
// and a value outside the range; the fields may then have changed.
void from_json(const std::string& json, const Fields& fields, const std::string& place, Naming naming = Naming::snake);
// Sets one field from a word of the command line: JSON, or a string without quotes; lists are separated by
// commas. Throws Error as from_json().
void set_field(const Fields& fields, const std::string& name, const std::string& text, const std::string& place);
// All fields, in order; optional ones only if they are set.
std::string to_json(const Fields& fields, Naming naming = Naming::snake);
// Throws Error for the first value outside its range.
void check_ranges(const Fields& fields, const std::string& place, Naming naming = Naming::snake);

// The help of a field with its type, range and default: "… (a whole number from 1 to 64; default 4)".
std::string summary(const Field& field);

// "; did you mean 'd_model'?" when a name is near or contains `given`, else "".
std::string suggestion(const std::string& given, const std::vector<std::string>& names);

}  // namespace wasmformer
