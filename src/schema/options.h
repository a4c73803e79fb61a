// Options, each declared once: a struct's visit() gives every field its name, range and one sentence of help,
// and its initializer is the default. JSON, checks, the program's flags, --help and options.json come from
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
// A field may have an alias, its name in earlier versions: {.name = "text", .help = "…", .alias = "mono"}. Whoever
// gives an option may use either, but not both.
//
// A field is a bool, whole number, double, string, TextOrTokens, an enumeration with words(), a struct with
// visit(), a std::optional or std::vector of these, a JsonText, or a StringMap. words(E) returns the words of
// enumeration E in its order.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "schema/fields.h"
#include "schema/option_names.h"

namespace wasmformer {

// Errors begin with "[place]" and name the option and its value.
// Sets the fields that the JSON object has. Throws Error for text that is not JSON, an unknown name, a field under both
// of its names, a wrong type and a value outside the range; the fields may then have changed.
void from_json(const std::string& json, const Fields& fields, const std::string& place, Naming naming = Naming::snake);
// Sets one field from a word of the command line: JSON, or a string without quotes; lists are separated by
// commas. Throws Error as from_json().
void set_field(const Fields& fields, const std::string& name, const std::string& text, const std::string& place);
// The same for several words, in order. The last one for a field holds, but all for it must give it the same name.
using NamedWords = std::vector<std::pair<std::string, std::string>>;
void set_each(const Fields& fields, const NamedWords& words, const std::string& place);
// All fields, in order; optional ones only if they are set.
std::string to_json(const ConstFields& fields, Naming naming = Naming::snake);
// Throws Error for the first value outside its range.
void check_ranges(const ConstFields& fields, const std::string& place, Naming naming = Naming::snake);

// The name of the field that is called `name`, which may be its alias. Throws Error, with a suggestion, for an unknown
// one.
std::string current_name(const ConstFields& fields, const std::string& name, const std::string& place);

// The help of a field with its type, range and default: "… (a whole number from 1 to 64; default 4)".
std::string summary(const Field& field);

}  // namespace wasmformer
