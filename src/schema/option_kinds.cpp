#include "schema/option_kinds.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "schema/error.h"
#include "schema/json.h"

namespace wasmformer::option_kinds {
namespace {

using field_views::Choice, field_views::Group, field_views::List, field_views::Optional;

const Value::variant& alternatives_of(const Value& value) { return value; }

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
  const bool has_low = std::isfinite(r.low), has_high = std::isfinite(r.high);
  const bool is_closed = has_low && has_high && !r.excludes_low && !r.excludes_high;
  if (is_closed) return " from " + digits(r.low) + " to " + digits(r.high);
  std::string text;
  if (has_low) text += (r.excludes_low ? " above " : " of at least ") + digits(r.low);
  if (has_low && has_high) text += " and";
  if (has_high) text += (r.excludes_high ? " below " : " at most ") + digits(r.high);
  return text;
}

std::string alternatives(Words words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_last = i + 1 == words.size();
    if (i > 0) text += is_last ? " or " : ", ";
    text += words[i];
  }
  return text;
}

// Context of a value to check: its allowed range, and how errors name it.
struct Place {
  const Range& range;
  const std::string& place;
  std::string path;
  Naming naming;
};

// The functions for one kind of field call those for any kind.
using option_kinds::expected;
using option_kinds::read;
using option_kinds::write;
void describe(Json& entry, const Value& value, Naming naming);  // adds the type and what belongs to it
void check(const Value& value, const Place& at);
void require_all(const Fields& fields, const Given& object);

void require(bool holds, const Value& value, const Given& given) {
  if (holds) return;
  const bool is_double = std::holds_alternative<double*>(value) && given.json.is_number();
  const std::string allowed = expected(value, given.range);
  const std::string shown = is_double ? digits(given.json.get<double>()) : printed(given.json);
  throw Error(ErrorCode::option_value, given.path + " must be " + allowed + ", not " + shown,
              {{"place", given.place}, {"option", given.path}, {"allowed", allowed}, {"value", shown}});
}

// bool

std::string expected(bool*, const Range&) { return "true or false"; }
void read(bool* field, const Given& given) {
  require(given.json.is_boolean(), field, given);
  *field = given.json.get<bool>();
}
Json write(const bool* field, Naming) { return *field; }
void describe(Json& entry, const bool*, Naming) { entry["type"] = "boolean"; }

// Whole numbers

template <Integer T>
std::string expected(T*, const Range& range) {
  const bool from_0 = std::is_unsigned_v<T> && range.low < 0;
  return "a whole number" + bounds(from_0 ? at_least(0) : range);
}
template <Integer T>
void read(T* field, const Given& given) {
  const Input& json = given.json;
  bool fits = false;
  // The parser holds every whole number from 0 as unsigned.
  if (json.is_number_unsigned())
    fits = std::in_range<T>(json.get<std::uint64_t>());
  else if (json.is_number_integer())
    fits = std::in_range<T>(json.get<std::int64_t>());
  require(fits && contains(given.range, json.get<double>()), field, given);
  *field = json.get<T>();
}
template <Integer T>
Json write(const T* field, Naming) {
  return *field;
}
template <Integer T>
void describe(Json& entry, const T*, Naming) {
  entry["type"] = "integer";
}

// double

std::string expected(double*, const Range& range) { return "a number" + bounds(range); }
void read(double* field, const Given& given) {
  require(given.json.is_number() && contains(given.range, given.json.get<double>()), field, given);
  *field = given.json.get<double>();
}
Json write(const double* field, Naming) { return *field; }
void describe(Json& entry, const double*, Naming) { entry["type"] = "number"; }

// Texts

std::string expected(std::string*, const Range&) { return "a string"; }
void read(std::string* field, const Given& given) {
  require(given.json.is_string(), field, given);
  *field = given.json.get<std::string>();
}
Json write(const std::string* field, Naming) { return *field; }
void describe(Json& entry, const std::string*, Naming) { entry["type"] = "string"; }

std::string expected(TextOrTokens*, const Range&) { return "a string or an array of token ids"; }
void read(TextOrTokens* field, const Given& given) {
  require(given.json.is_string() || given.json.is_array(), field, given);
  if (given.json.is_string()) {
    *field = given.json.get<std::string>();
    return;
  }
  const Range ids = at_least(0);
  read(view(field->emplace<std::vector<int>>()), {given.json, ids, given.place, given.path, given.naming});
}
Json write(const TextOrTokens* field, Naming) {
  return std::visit([](const auto& held) { return Json(held); }, *field);
}
void describe(Json& entry, const TextOrTokens*, Naming) { entry["type"] = "string or tokens"; }

// Objects of other structs, and of strings

std::string expected(JsonText*, const Range&) { return "an object"; }
void read(JsonText* field, const Given& given) {
  require(given.json.is_object(), field, given);
  field->text = given.json.dump();
}
// By the parser of what is read: one for ordered objects would be a second one in the modules.
Json write(const JsonText* field, Naming) { return Json(nlohmann::json::parse(field->text)); }
void describe(Json& entry, const JsonText*, Naming) { entry["type"] = "object"; }

std::string expected(StringMap*, const Range&) { return "an object"; }
void read(StringMap* field, const Given& given) {
  require(given.json.is_object(), field, given);
  field->clear();
  for (const auto& [key, text] : given.json.items())
    read(view((*field)[key]), {text, given.range, given.place, given.path + "." + key, given.naming});
}
Json write(const StringMap* field, Naming) { return Json(*field); }
void describe(Json& entry, const StringMap*, Naming) {
  entry["type"] = "object";
  entry["item"] = {{"type", "string"}};
}

// Enumerations

std::string expected(const Choice& choice, const Range&) { return alternatives(choice.words); }
void read(const Choice& choice, const Given& given) {
  const std::string word = given.json.is_string() ? given.json.get<std::string>() : "";
  const auto found = std::find(choice.words.begin(), choice.words.end(), word);
  require(found != choice.words.end(), choice, given);
  choice.set(static_cast<std::size_t>(found - choice.words.begin()));
}
Json write(const Choice& choice, Naming) { return choice.words[choice.get()]; }
void describe(Json& entry, const Choice& choice, Naming) {
  entry["type"] = "choice";
  entry["choices"] = std::vector<std::string>(choice.words.begin(), choice.words.end());
}

// Structs

std::string expected(const Group&, const Range&) { return "an object"; }
void read(const Group& group, const Given& given) {
  require(given.json.is_object(), group, given);
  read_object(group.fields(), given.json, given.place, given.path + ".", given.naming);
}
Json write(const Group& group, Naming naming) { return write_object(group.fields(), naming); }
void describe(Json& entry, const Group& group, Naming naming) {
  entry["type"] = "group";
  entry["fields"] = describe_fields(group.fields(), naming);
}

// std::optional

std::string expected(const Optional& optional, const Range& range) {
  std::string text;
  optional.with_default([&](const Value& value) { text = expected(value, range); });
  return text;
}
void read(const Optional& optional, const Given& given) {
  if (given.json.is_null())
    optional.reset();
  else
    read(optional.make(), given);
}
Json write(const Optional& optional, Naming naming) {
  return optional.has() ? write(optional.value(), naming) : Json();
}
void describe(Json& entry, const Optional& optional, Naming naming) {
  entry["optional"] = true;
  optional.with_default([&](const Value& value) { describe(entry, value, naming); });
}

// std::vector

std::string expected(const List&, const Range&) { return "an array"; }
void read(const List& list, const Given& given) {
  require(given.json.is_array(), list, given);
  list.resize(given.json.size());
  for (std::size_t i = 0; i < given.json.size(); ++i) {
    const Given item_given{given.json[i], given.range, given.place, given.path + "[" + std::to_string(i) + "]",
                           given.naming};
    const Value item = list.at(i);
    read(item, item_given);
    // The items of a list have no defaults.
    if (const auto* group = std::get_if<Group>(&item)) require_all(group->fields(), item_given);
  }
}
Json write(const List& list, Naming naming) {
  Json array = Json::array();
  for (std::size_t i = 0; i < list.size(); ++i) array.push_back(write(list.at(i), naming));
  return array;
}
void describe(Json& entry, const List& list, Naming naming) {
  entry["type"] = "list";
  list.with_default([&](const Value& item) { describe(entry["item"], item, naming); });
}

// Checks of values that fields already hold

// Checks the value like one that has just been given.
template <class T>
void check(T* field, const Place& at) {
  T same{};
  const Input json = write(field, at.naming);
  read(&same, {json, at.range, at.place, at.path, at.naming});
}
void check(const Choice&, const Place&) {}
void check(const Group& group, const Place& at) { check_values(group.fields(), at.place, at.path + ".", at.naming); }
void check(const Optional& optional, const Place& at) {
  if (optional.has()) check(optional.value(), at);
}
void check(const List& list, const Place& at) {
  for (std::size_t i = 0; i < list.size(); ++i)
    check(list.at(i),
          {.range = at.range, .place = at.place, .path = at.path + "[" + std::to_string(i) + "]", .naming = at.naming});
}

// Any of them

void check(const Value& value, const Place& at) {
  std::visit([&](const auto& field) { check(field, at); }, alternatives_of(value));
}

void describe(Json& entry, const Value& value, Naming naming) {
  std::visit([&](const auto& field) { describe(entry, field, naming); }, alternatives_of(value));
}

void require_all(const Fields& fields, const Given& object) {
  for (const Field& field : fields) {
    const std::string key = named(field.option.name, object.naming);
    const std::string option = object.path + "." + key;
    const bool has_alias = field.option.alias && object.json.contains(named(field.option.alias, object.naming));
    WASMFORMER_CHECK(object.json.contains(key) || has_alias, ErrorCode::option_missing, option << " is missing",
                     {"place", object.place}, {"option", option});
  }
}

}  // namespace

std::string expected(const Value& value, const Range& range) {
  return std::visit([&](const auto& field) { return expected(field, range); }, alternatives_of(value));
}
void read(const Value& value, const Given& given) {
  std::visit([&](const auto& field) { read(field, given); }, alternatives_of(value));
}
Json write(const Value& value, Naming naming) {
  return std::visit([&](const auto& field) { return write(field, naming); }, alternatives_of(value));
}
void check_values(const Fields& fields, const std::string& place, const std::string& path, Naming naming) {
  for (const auto& [option, value] : fields)
    check(value, {.range = option.range, .place = place, .path = path + named(option.name, naming), .naming = naming});
}

const Field& find_field(const Fields& fields, const std::string& key, const std::string& place, const std::string& path,
                        Naming naming) {
  std::vector<std::string> names;
  for (const Field& field : fields) {
    names.push_back(named(field.option.name, naming));
    const bool is_alias = field.option.alias && named(field.option.alias, naming) == key;
    if (is_alias || names.back() == key) return field;
  }
  const std::string option = path + key.substr(0, 80);
  throw Error(ErrorCode::unknown_option, "unknown option '" + option + "'" + suggestion(key, names),
              {{"place", place}, {"option", option}});
}

void require_one_name(const Option& option, const Input& object, const std::string& place, const std::string& path,
                      Naming naming) {
  if (!option.alias) return;
  const std::string name = named(option.name, naming), alias = named(option.alias, naming);
  WASMFORMER_CHECK(!object.contains(name) || !object.contains(alias), ErrorCode::option_twice,
                   path << alias << " is the earlier name of " << path << name << "; give one of them",
                   {"place", place}, {"option", path + name}, {"alias", path + alias});
}

void read_object(const Fields& fields, const Input& object, const std::string& place, const std::string& path,
                 Naming naming) {
  for (const auto& [key, value] : object.items()) {
    const Field& field = find_field(fields, key, place, path, naming);
    require_one_name(field.option, object, place, path, naming);
    read(field.value, {value, field.option.range, place, path + key, naming});
  }
}

Json write_object(const Fields& fields, Naming naming) {
  Json json = Json::object();
  for (const Field& field : fields) {
    Json value = write(field.value, naming);
    if (!value.is_null()) json[named(field.option.name, naming)] = std::move(value);
  }
  return json;
}

Json describe_fields(const Fields& fields, Naming naming) {
  Json all = Json::array();
  for (const auto& [option, value] : fields) {
    Json entry{{"name", named(option.name, naming)}};
    Json start = write(value, naming);
    if (!start.is_null()) entry["default"] = std::move(start);
    describe(entry, value, naming);
    const Range& r = option.range;
    if (std::isfinite(r.low)) entry[r.excludes_low ? "exclusiveMinimum" : "minimum"] = r.low;
    if (std::isfinite(r.high)) entry[r.excludes_high ? "exclusiveMaximum" : "maximum"] = r.high;
    if (option.alias) entry["alias"] = named(option.alias, naming);
    entry["help"] = option.help;
    all.push_back(std::move(entry));
  }
  return all;
}

}  // namespace wasmformer::option_kinds
