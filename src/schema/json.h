// Options as JSON values. Apart from options.h, which users of the library include without nlohmann/json.
#pragma once

#include <nlohmann/json.hpp>

#include "schema/fields.h"
#include "schema/option_names.h"

namespace wasmformer {

// Reading uses nlohmann::json, since ordered_json takes quadratic time; writing uses ordered_json.

// An object whose keys others check.
struct JsonObject {
  nlohmann::json value = nlohmann::json::object();
};

// Parses the text as JSON. Throws Error, beginning with "[place]", if it is not JSON or nested too deeply.
nlohmann::json parse_json(const std::string& text, const std::string& place);

// As from_json(), from a value.
void set_fields(const Fields& fields, const nlohmann::json& json, const std::string& place,
                Naming naming = Naming::snake);
// All fields, in order; optional ones only if they are set.
nlohmann::ordered_json json_of(const ConstFields& fields, Naming naming = Naming::snake);

// An array with, for each field, name, type (boolean, integer, number, string, object, choice, group or list),
// default, help, and where there are any minimum, maximum, exclusiveMinimum, exclusiveMaximum, choices, optional,
// alias, and the fields of a group or the item of a list or of an object. The fields must hold the defaults.
nlohmann::ordered_json schema(const ConstFields& fields, Naming naming = Naming::snake);
template <class Options>
nlohmann::ordered_json schema_of(Naming naming = Naming::snake) {
  const Options defaults;
  return schema(fields(defaults), naming);
}

}  // namespace wasmformer
