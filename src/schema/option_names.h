// The names of options, as they are written and as they are mistyped.
#pragma once

#include <string>
#include <vector>

namespace wasmformer {

enum class Naming { snake, camel };  // max_length, or maxLength as in JavaScript
std::string named(const char* snake_name, Naming naming);

// "; did you mean 'd_model'?" when a name is near or contains `given`, else "".
std::string suggestion(const std::string& given, const std::vector<std::string>& names);

}  // namespace wasmformer
