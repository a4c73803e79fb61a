// Reads the request that a run begins with (wasmformer/training.h). Texts and files are given separately
// (train/run_setup.h).
#pragma once

#include "schema/json.h"
#include "tasks/translate/augment.h"
#include "tasks/translate/translate_options.h"
#include "wasmformer/training.h"

namespace wasmformer {

// From JSON with names in camelCase. Throws Error like from_json().
RunRequest run_request(const std::string& json);

// All choices: `presets` (name, values, and the peak of the learning rate), `tasks`, and the schemas of `request`,
// `run` and `config`, the config keys.
nlohmann::ordered_json describe_training();

}  // namespace wasmformer
