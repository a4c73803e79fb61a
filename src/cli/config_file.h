// Options of a command in a file of JSON, whose object for the command has its flags by their long names:
//
//   { "train": { "data": ["train.tsv"], "max-steps": 1000, "set": { "dropout": 0.1 } } }  // comments are skipped
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace wasmformer {

// The type of options that take KEY=VALUE, which are objects in the file.
inline constexpr const char* key_value_type = "KEY=VALUE";

// The words of a command line, with those of the file that its --config names before the command's own, so that the
// latter win. Throws Error for a file that is not such an object, and for a name that is no flag of the command.
std::vector<std::string> with_config(const CLI::App& app, const std::vector<std::string>& words);

// The options that a parsed command was given, as they stand in such a file.
nlohmann::ordered_json given_options(const CLI::App& command);

}  // namespace wasmformer
