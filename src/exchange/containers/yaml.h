// The YAML files of Marian, by libyaml: one level of keys, each with one value or a list of values.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace wasmformer {

// The values of each key; a key without a value has none. Throws Error, with the line in the file `name`, for
// invalid YAML and for everything else: anchors, tags, maps in maps, several documents.
using Yaml = std::map<std::string, std::vector<std::string>>;
Yaml parse_yaml(std::string_view text, const std::string& name);

}  // namespace wasmformer
