// The YAML that Marian writes: one level of `key: value` and of lists, in blocks or brackets.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace wasmformer {

// The values of each key: one where it is no list. Throws Error, naming the line of the file `name`, for all
// YAML beyond that, such as anchors, maps in maps and texts of several lines.
using Yaml = std::map<std::string, std::vector<std::string>>;
Yaml parse_yaml(std::string_view text, const std::string& name);

}  // namespace wasmformer
