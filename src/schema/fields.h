// Building blocks of options: a field of a struct with its name, range and help, and views of its value by kind.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "wasmformer/detail/option.h"

namespace wasmformer {

struct JsonObject;  // schema/json.h

struct Field;
using Fields = std::vector<Field>;
struct Value;

// Views of a field. A view must not outlive its field.
namespace field_views {
// Calls a function with a view of a new default value, so that a type can be described without a field that holds one.
using WithDefault = std::function<void(const std::function<void(const Value&)>&)>;
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
  std::function<Value()> make;  // replaces the old values
  std::function<Value()> value;
  std::function<void()> reset;
  WithDefault with_default;
};
struct List {
  std::function<std::size_t()> size;
  std::function<void(std::size_t)> resize;  // all elements become defaults
  std::function<Value(std::size_t)> at;
  WithDefault with_default;  // default of an item
};
}  // namespace field_views
struct Value : std::variant<bool*, int*, long*, long long*, unsigned long*, unsigned long long*, double*, std::string*,
                            TextOrTokens*, JsonText*, StringMap*, field_views::Choice, field_views::Group,
                            field_views::Optional, field_views::List> {
  using variant::variant;
};
struct Field {
  Option option;
  Value value;
};

template <class Options>
requires(!std::is_const_v<Options>) Fields fields(Options& options);

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
    return field_views::Choice{.words = words(T{}),
                               .get = [&field] { return static_cast<std::size_t>(field); },
                               .set = [&field](std::size_t i) { field = static_cast<T>(i); }};
  } else if constexpr (Struct<T>) {
    return field_views::Group{[&field] { return fields(field); }};
  } else {
    return &field;
  }
}

template <class T>
void view_default(const std::function<void(const Value&)>& use) {
  T value{};
  use(view(value));
}

template <class T>
Value view(std::optional<T>& field) {
  return field_views::Optional{.has = [&field] { return field.has_value(); },
                               .make = [&field] { return view(field.emplace()); },
                               .value = [&field] { return view(*field); },
                               .reset = [&field] { field.reset(); },
                               .with_default = view_default<T>};
}

template <class T>
Value view(std::vector<T>& field) {
  return field_views::List{.size = [&field] { return field.size(); },
                           .resize = [&field](std::size_t n) { field.assign(n, T{}); },
                           .at = [&field](std::size_t i) { return view(field[i]); },
                           .with_default = view_default<T>};
}

// The fields of one struct; those of several can be joined.
template <class Options>
requires(!std::is_const_v<Options>) Fields fields(Options& options) {
  Fields all;
  options.visit([&all](const Option& option, auto& field) { all.push_back({option, view(field)}); });
  return all;
}
Fields operator+(Fields a, const Fields& b);

// Fields that are only read, such as those of a const struct.
class ConstFields {
 public:
  ConstFields(Fields fields) : fields_(std::move(fields)) {}
  // For the schema's own functions that read.
  const Fields& to_read() const { return fields_; }

 private:
  Fields fields_;
};
ConstFields operator+(const ConstFields& a, const ConstFields& b);

// visit() only shows the fields, and ConstFields lets nobody set them.
template <class Options>
ConstFields fields(const Options& options) {
  return fields(const_cast<Options&>(options));
}

}  // namespace wasmformer
