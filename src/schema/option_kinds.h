// Operations of every kind of field, for schema/options.cpp.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "schema/fields.h"
#include "schema/option_names.h"

namespace wasmformer::option_kinds {

using Json = nlohmann::ordered_json;  // to write
using Input = nlohmann::json;         // to read, which takes ordered_json quadratic time

// JSON that a field is to take, and what errors say of it.
struct Given {
  const Input& json;
  const Range& range;
  const std::string& place;  // errors begin with it
  std::string path;          // the field's name, such as heads[1].layer
  Naming naming;
};

// The form that errors ask for: "a whole number from 1 to 64".
std::string expected(const Value& value, const Range& range);
// Throws Error for what does not fit.
void read(const Value& value, const Given& given);
// Throws Error for the first value outside the range of its option. `path`: what stands before the names in errors.
void check_values(const Fields& fields, const std::string& place, const std::string& path, Naming naming);
// Null: nothing to write.
Json write(const Value& value, Naming naming);

// The same for the fields of a struct. `path`: what stands before their names in errors, such as "sampling.".
void read_object(const Fields& fields, const Input& object, const std::string& place, const std::string& path,
                 Naming naming);
Json write_object(const Fields& fields, Naming naming);
// As schema() in options.h.
Json describe_fields(const Fields& fields, Naming naming);

// Throws Error if an object has a field under both of its names.
void require_one_name(const Option& option, const Input& object, const std::string& place, const std::string& path,
                      Naming naming);
// Throws Error, with a suggestion, if no field has this name.
const Field& find_field(const Fields& fields, const std::string& name, const std::string& place,
                        const std::string& path, Naming naming);

}  // namespace wasmformer::option_kinds
