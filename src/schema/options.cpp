#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "schema/error.h"
#include "schema/json.h"

namespace wasmformer {
namespace {

using Json = nlohmann::ordered_json;  // to write
using Input = nlohmann::json;         // to read
using field_views::Choice, field_views::Group, field_views::List, field_views::Optional;

template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};

template <class... Handlers>
auto match(const Value& value, Handlers... handlers) {
  using Base = Value::variant;
  return std::visit(Overloaded{handlers...}, static_cast<const Base&>(value));
}

template <class T>
concept Integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;

std::string digits(double number) {
  if (!std::isfinite(number)) return std::to_string(number);  // JSON has none
  Json json = number;
  if (std::abs(number) < 9e15 && number == std::floor(number)) json = static_cast<std::int64_t>(number);
  return json.dump();
}

std::string printed(const Input& value) {
  const std::string text = value.dump(-1, ' ', false, Input::error_handler_t::replace);
  return text.size() > 80 ? text.substr(0, 80) + "…" : text;
}

bool contains(const Range& range, double value) {
  return std::isfinite(value) && (range.excludes_low ? value > range.low : value >= range.low) &&
         (range.excludes_high ? value < range.high : value <= range.high);
}

// " from 1 to 64", " above 0 and at most 1", or "".
std::string bounds(const Range& r) {
  const bool low = std::isfinite(r.low), high = std::isfinite(r.high);
  if (low && high && !r.excludes_low && !r.excludes_high) return " from " + digits(r.low) + " to " + digits(r.high);
  std::string text;
  if (low) text += (r.excludes_low ? " above " : " of at least ") + digits(r.low);
  if (high) text += std::string(low ? " and" : "") + (r.excludes_high ? " below " : " at most ") + digits(r.high);
  return text;
}

std::string alternatives(Words words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + std::string(words[i]);
  return text;
}

std::string expected(const Value& value, const Range& range) {
  return match(
      value, [](bool*) { return std::string("true or false"); },
      [&](Integer auto* field) {
        const bool from_0 = std::is_unsigned_v<std::remove_pointer_t<decltype(field)>> && range.low < 0;
        return "a whole number" + bounds(from_0 ? at_least(0) : range);
      },
      [&](double*) { return "a number" + bounds(range); }, [](std::string*) { return std::string("a string"); },
      [](TextOrTokens*) { return std::string("a string or an array of token ids"); },
      [](JsonObject*) { return std::string("an object"); }, [](StringMap*) { return std::string("an object"); },
      [](const Choice& choice) { return alternatives(choice.words); },
      [](const Group&) { return std::string("an object"); }, [](const List&) { return std::string("an array"); },
      [&](const Optional& optional) {
        const std::string text = expected(optional.make(), range);
        optional.reset();
        return text;
      });
}

struct Reader {
  const std::string& place;
  Naming naming;

  const Field& find(const Fields& fields, const std::string& key, const std::string& path = "") const {
    std::vector<std::string> names;
    for (const Field& field : fields) {
      names.push_back(named(field.option.name, naming));
      if (names.back() == key) return field;
    }
    const std::string option = path + key.substr(0, 80);
    throw Error(ErrorCode::unknown_option, "unknown option '" + option + "'" + suggestion(key, names),
                {{"place", place}, {"option", option}});
  }

  void assign(const std::string& path, const Value& value, const Range& range, const Input& given) const {
    const auto require = [&](bool holds) {
      if (holds) return;
      const bool is_double = std::holds_alternative<double*>(value) && given.is_number();
      const std::string allowed = expected(value, range);
      const std::string shown = is_double ? digits(given.get<double>()) : printed(given);
      throw Error(ErrorCode::option_value, path + " must be " + allowed + ", not " + shown,
                  {{"place", place}, {"option", path}, {"allowed", allowed}, {"value", shown}});
    };
    match(
        value, [&](bool* field) { require(given.is_boolean()), *field = given.get<bool>(); },
        [&]<Integer T>(T* field) {
          // The parser holds every whole number from 0 as unsigned.
          const bool fits = given.is_number_unsigned()
                                ? std::in_range<T>(given.get<std::uint64_t>())
                                : given.is_number_integer() && std::in_range<T>(given.get<std::int64_t>());
          require(fits && contains(range, given.get<double>()));
          *field = given.get<T>();
        },
        [&](double* field) {
          require(given.is_number() && std::isfinite(given.get<double>()) && contains(range, given.get<double>()));
          *field = given.get<double>();
        },
        [&](std::string* field) { require(given.is_string()), *field = given.get<std::string>(); },
        [&](TextOrTokens* field) {
          require(given.is_string() || given.is_array());
          if (given.is_array()) return assign(path, view(field->emplace<std::vector<int>>()), at_least(0), given);
          *field = given.get<std::string>();
        },
        [&](JsonObject* field) {
          require(given.is_object());
          field->value = given;
        },
        [&](StringMap* field) {
          require(given.is_object());
          field->clear();
          for (const auto& [key, text] : given.items()) assign(path + "." + key, view((*field)[key]), range, text);
        },
        [&](const Choice& choice) {
          const auto found =
              std::find(choice.words.begin(), choice.words.end(), given.is_string() ? given.get<std::string>() : "");
          require(found != choice.words.end());
          choice.set(static_cast<std::size_t>(found - choice.words.begin()));
        },
        [&](const Group& group) {
          require(given.is_object());
          read(group.fields(), given, path + ".");
        },
        [&](const Optional& optional) {
          if (given.is_null()) return optional.reset();
          assign(path, optional.make(), range, given);
        },
        [&](const List& list) {
          require(given.is_array());
          list.resize(given.size());
          for (std::size_t i = 0; i < given.size(); ++i) {
            const std::string place_of_item = path + "[" + std::to_string(i) + "]";
            const Value item = list.at(i);
            assign(place_of_item, item, range, given[i]);
            if (const auto* group = std::get_if<Group>(&item)) require_all(group->fields(), given[i], place_of_item);
          }
        });
  }

  // The items of a list have no defaults.
  void require_all(const Fields& fields, const Input& object, const std::string& path) const {
    for (const Field& field : fields) {
      const std::string key = named(field.option.name, naming);
      WASMFORMER_CHECK(object.contains(key), ErrorCode::option_missing, path << "." << key << " is missing",
                       {"place", place}, {"option", path + "." + key});
    }
  }

  void read(const Fields& fields, const Input& object, const std::string& path) const {
    for (const auto& [key, value] : object.items()) {
      const Field& field = find(fields, key, path);
      assign(path + key, field.value, field.option.range, value);
    }
  }
};

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

// Of a value on the command line: JSON's, also written .5 or 1., or the text itself.
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
Input group(const std::string& text, const Fields& fields, const std::string& path) {
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
                   path << ": '" << text << "' is not " << form(fields));
  return object;
}

Input list(const std::string& text, const List& list, const std::string& path) {
  list.resize(1);
  const Value first = list.at(0);
  const bool of_strings = std::holds_alternative<std::string*>(first);
  const auto* of_groups = std::get_if<Group>(&first);
  Input array = Input::array();
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string item = text.substr(begin, end - begin);
    array.push_back(of_strings ? Input(item) : of_groups ? group(item, of_groups->fields(), path) : scalar(item));
    begin = end + 1;
  }
  return array;
}

Json json_of(const Value& value, Naming naming) {
  return match(
      value, [](const auto* field) { return Json(*field); }, [](const JsonObject* field) { return Json(field->value); },
      [](const TextOrTokens* field) { return std::visit([](const auto& held) { return Json(held); }, *field); },
      [](const Choice& choice) { return Json(choice.words[choice.get()]); },
      [&](const Group& group) { return json_of(group.fields(), naming); },
      [&](const Optional& optional) { return optional.has() ? json_of(optional.value(), naming) : Json(); },
      [&](const List& list) {
        Json array = Json::array();
        for (std::size_t i = 0; i < list.size(); ++i) array.push_back(json_of(list.at(i), naming));
        return array;
      });
}

// Adds the type and what belongs to it.
void describe(Json& entry, const Value& value, Naming naming) {
  match(
      value, [&](bool*) { entry["type"] = "boolean"; }, [&](Integer auto*) { entry["type"] = "integer"; },
      [&](double*) { entry["type"] = "number"; }, [&](std::string*) { entry["type"] = "string"; },
      [&](TextOrTokens*) { entry["type"] = "string or tokens"; }, [&](JsonObject*) { entry["type"] = "object"; },
      [&](StringMap*) {
        entry["type"] = "object";
        entry["item"] = {{"type", "string"}};
      },
      [&](const Choice& choice) {
        entry["type"] = "choice";
        entry["choices"] = std::vector<std::string>(choice.words.begin(), choice.words.end());
      },
      [&](const Group& group) {
        entry["type"] = "group";
        entry["fields"] = schema(group.fields(), naming);
      },
      [&](const Optional& optional) {
        entry["optional"] = true;
        describe(entry, optional.make(), naming);
        optional.reset();
      },
      [&](const List& list) {
        entry["type"] = "list";
        list.resize(1);
        describe(entry["item"], list.at(0), naming);
        list.resize(0);
      });
}

// Fewest letters to insert, remove or replace to turn `a` into `b` (Levenshtein).
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = std::exchange(row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, replaced}));
    }
  }
  return row.back();
}

}  // namespace

std::string named(const char* name, Naming naming) {
  if (naming == Naming::snake) return name;
  std::string camel;
  for (; *name; ++name) camel += *name == '_' && name[1] ? static_cast<char>(std::toupper(*++name)) : *name;
  return camel;
}

Fields operator+(Fields a, const Fields& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

nlohmann::json parse_json(const std::string& text, const std::string& place) {
  WASMFORMER_CHECK(is_shallow(text), ErrorCode::options_not_json, "the JSON is nested too deeply", {"place", place});
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& e) {
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
  Reader{place, naming}.read(fields, json, "");
}

void set_field(const Fields& fields, const std::string& name, const std::string& text, const std::string& place) {
  const Reader reader{place, Naming::snake};
  const auto& [option, value] = reader.find(fields, name);
  const Input json = match(
      value, [&](std::string*) { return Input(text); }, [&](TextOrTokens*) { return Input(text); },
      [&](const List& l) { return list(text, l, "[" + place + "] " + name); },
      [&](const auto&) { return scalar(text); });
  reader.assign(name, value, option.range, json);
}

Json json_of(const Fields& fields, Naming naming) {
  Json json = Json::object();
  for (const Field& field : fields)
    if (Json value = json_of(field.value, naming); !value.is_null())
      json[named(field.option.name, naming)] = std::move(value);
  return json;
}

std::string to_json(const Fields& fields, Naming naming) { return json_of(fields, naming).dump(); }

void check_ranges(const Fields& fields, const std::string& place, Naming naming) {
  for (const auto& [option, value] : fields)
    Reader{place, naming}.assign(named(option.name, naming), value, option.range, json_of(value, naming));
}

Json schema(const Fields& fields, Naming naming) {
  Json all = Json::array();
  for (const auto& [option, value] : fields) {
    Json entry{{"name", named(option.name, naming)}};
    if (Json start = json_of(value, naming); !start.is_null()) entry["default"] = std::move(start);
    describe(entry, value, naming);
    const Range& r = option.range;
    if (std::isfinite(r.low)) entry[r.excludes_low ? "exclusiveMinimum" : "minimum"] = r.low;
    if (std::isfinite(r.high)) entry[r.excludes_high ? "exclusiveMaximum" : "maximum"] = r.high;
    entry["help"] = option.help;
    all.push_back(std::move(entry));
  }
  return all;
}

std::string summary(const Field& field) {
  std::string type = expected(field.value, field.option.range);
  if (const auto* list = std::get_if<List>(&field.value)) {
    list->resize(1);
    const Value first = list->at(0);
    const auto* group = std::get_if<Group>(&first);
    type = (group ? "each " + form(group->fields()) + ", " : "") + "separated by commas";
    list->resize(0);
  }
  const Json start = json_of(field.value, Naming::snake);
  const bool has_default = !start.is_null() && start != "" && start != Json::array();
  const std::string text = start.is_string() ? start.get<std::string>() : start.dump();
  return field.option.help + (" (" + type) + (has_default ? "; default " + text : "") + ")";
}

std::string suggestion(const std::string& given, const std::vector<std::string>& names) {
  std::string nearest;
  std::size_t least = std::max<std::size_t>(2, given.size() / 2) + 1;
  for (const std::string& name : names) {
    // A part of a name means that name; one far longer than any name cannot be a slip.
    const bool is_part = given.size() > 2 && name.find(given) != std::string::npos;
    const std::size_t distance = is_part ? 1 : given.size() > 2 * name.size() + 2 ? least : edit_distance(given, name);
    if (distance < least) {
      least = distance;
      nearest = name;
    }
  }
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

}  // namespace wasmformer
