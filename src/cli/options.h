// The program's flags from the declarations of options (model/options.h).
#pragma once

#include <string>

#include "model/options.h"

namespace CLI {
class App;
}

namespace wasmformer {

// Adds a flag for each field that has one, with its help, range and default. Wrong values throw Error with
// "[place]". The fields must live as long as the command.
void add_options(CLI::App& command, const Fields& fields, const std::string& place);

// A line for each field, for what `--set` can change: "  d_model    features of a token (…)".
std::string key_list(const Fields& fields);

}  // namespace wasmformer
