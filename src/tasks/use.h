// Use that a model is loaded for.
#pragma once

#include <string>

#include "model/config.h"

namespace wasmformer {

// Throws Error, beginning with `place`, if models of this config do not do what `use` says: "translate", "classify" or
// "tag".
void check_use(const Config& config, const std::string& use, const std::string& place);

}  // namespace wasmformer
