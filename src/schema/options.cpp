#include "schema/options.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "schema/error.h"
#include "schema/json.h"
#include "schema/option_kinds.h"

namespace wasmformer {
namespace {

using namespace option_kinds;
using field_views::Choice, field_views::Group, field_views::List, field_views::Optional;

// Hostile text must not grow a deep tree.
bool is_shallow(const std::string& json) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (json[i] == '"') in_string = !in_string;
    if (in_string) {
      if (json[i] == '\\') ++i;
    } else if (json[i] == '{' || json[i] == '[') {
      if (++depth > 9) return false;
    } else if (json[i] == '}' || json[i] == ']') {
      --depth;
    }
  }
  return true;
}

// A value on the command line: JSON's, also written .5 or 1., or the text itself.
Input scalar(const std::string& text) {
  Input json = Input::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_number() || json.is_boolean()) return json;
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == 0 && std::isfinite(number) ? Input(number) : Input(text);
}

// "attention:layer:head".
std::string form(const Fields& fields) {
  std::string text;
  for (const Field& field : fields) text += (text.empty() ? "" : ":") + std::string(field.option.name);
  return text;
}

// An object from "cross:0:3", its fields in order.
Input group(const std::string& text, const Fields& fields, const std::string& name, const std::string& place) {
  Input object = Input::object();
  std::size_t begin = 0, parts = 0;
  for (const Field& field : fields) {
    if (begin > text.size()) continue;
    const std::size_t end = std::min(text.find(':', begin), text.size());
    object[field.option.name] = scalar(text.substr(begin, end - begin));
    begin = end + 1;
    ++parts;
  }
  WASMFORMER_CHECK(parts == fields.size() && begin > text.size(), ErrorCode::option_value,
                   name << ": '" << text << "' is not " << form(fields), {"place", place}, {"option", name});
  return object;
}

Input list(const std::string& text, const List& list, const std::string& name, const std::string& place) {
  Input array = Input::array();
  list.with_default([&](const Value& kind) {
    const auto read_item = [&](const std::string& item) {
      if (std::holds_alternative<std::string*>(kind)) return Input(item);
      if (const auto* of_groups = std::get_if<Group>(&kind)) return group(item, of_groups->fields(), name, place);
      return scalar(item);
    };
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      array.push_back(read_item(text.substr(begin, end - begin)));
      begin = end + 1;
    }
  });
  return array;
}

// The list that a field is, also if it may be unset.
std::optional<List> list_of(const Value& value) {
  std::optional<List> found;
  if (const auto* list = std::get_if<List>(&value)) found = *list;
  if (const auto* optional = std::get_if<Optional>(&value))
    optional->with_default([&](const Value& item) { found = list_of(item); });
  return found;
}

}  // namespace

Fields operator+(Fields a, const Fields& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

ConstFields operator+(const ConstFields& a, const ConstFields& b) { return a.to_read() + b.to_read(); }

nlohmann::json parse_json(const std::string& text, const std::string& place) {
  WASMFORMER_CHECK(is_shallow(text), ErrorCode::options_not_json, "the JSON is nested too deeply", {"place", place});
  try {
    return Input::parse(text);
  } catch (const Input::exception& e) {
    const std::string reason = e.what();  // begins with the library's own tag, such as [json.exception.parse_error.101]
    throw Error(ErrorCode::options_not_json, "invalid JSON: " + reason.substr(reason.find(' ') + 1),
                {{"place", place}});
  }
}

void from_json(const std::string& text, const Fields& fields, const std::string& place, Naming naming) {
  set_fields(fields, parse_json(text, place), place, naming);
}

void set_fields(const Fields& fields, const nlohmann::json& json, const std::string& place, Naming naming) {
  WASMFORMER_CHECK(json.is_object(), ErrorCode::options_not_json,
                   "the options must be a JSON object, not " << json.type_name(), {"place", place});
  read_object(fields, json, place, /*path=*/"", naming);
}

void set_field(const Fields& fields, const std::string& name, const std::string& text, const std::string& place) {
  const auto& [option, value] = find_field(fields, name, place, /*path=*/"", Naming::snake);
  const bool is_text = std::holds_alternative<std::string*>(value) || std::holds_alternative<TextOrTokens*>(value);
  Input json;
  if (is_text)
    json = text;
  else if (const std::optional<List> items = list_of(value))
    json = list(text, *items, name, place);
  else
    json = scalar(text);
  read(value, {json, option.range, place, name, Naming::snake});
}

void set_each(const Fields& fields, const NamedWords& words, const std::string& place) {
  Input names = Input::object();
  for (const auto& [name, text] : words) {
    names[name] = text;
    require_one_name(find_field(fields, name, place, /*path=*/"", Naming::snake).option, names, place, /*path=*/"",
                     Naming::snake);
    set_field(fields, name, text, place);
  }
}

nlohmann::ordered_json json_of(const ConstFields& fields, Naming naming) {
  return write_object(fields.to_read(), naming);
}

std::string to_json(const ConstFields& fields, Naming naming) { return json_of(fields, naming).dump(); }

void check_ranges(const ConstFields& fields, const std::string& place, Naming naming) {
  check_values(fields.to_read(), place, /*path=*/"", naming);
}

std::string current_name(const ConstFields& fields, const std::string& name, const std::string& place) {
  return find_field(fields.to_read(), name, place, /*path=*/"", Naming::snake).option.name;
}

nlohmann::ordered_json schema(const ConstFields& fields, Naming naming) {
  return describe_fields(fields.to_read(), naming);
}

std::string summary(const Field& field) {
  std::string type = expected(field.value, field.option.range);
  if (const std::optional<List> list = list_of(field.value)) {
    type = "separated by commas";
    list->with_default([&](const Value& item) {
      if (const auto* group = std::get_if<Group>(&item)) type = "each " + form(group->fields()) + ", " + type;
      if (std::holds_alternative<Choice>(item)) type = expected(item, {}) + ", " + type;
    });
  }
  const Json start = write(field.value, Naming::snake);
  const bool has_default = !start.is_null() && start != "" && start != Json::array();
  const std::string text = start.is_string() ? start.get<std::string>() : start.dump();
  return field.option.help + (" (" + type) + (has_default ? "; default " + text : "") + ")";
}

}  // namespace wasmformer
