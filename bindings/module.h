// The module's threads, and the models in it.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>

#include "arrays.h"
#include "bundle/model_file.h"
#include "tasks/use.h"
#include "tensor/thread_pool.h"
#include "text/metrics/labels.h"

namespace wasmformer {

using Json = nlohmann::ordered_json;

// The module's threads, made by its first call: a thread that has ended frees its worker for a next one only
// when JavaScript goes on, so they stay.
ThreadPool& pool(int threads = 1);

// Steps for 25 ms: long enough that waiting for the slowest thread costs little, short enough to abort quickly.
template <class Stepped>
bool take_turn(Stepped& job) {
  return job.step_for(std::chrono::milliseconds(25));
}

// Source tokens per batch: enough for fast matrix products, few enough that no step delays other calls for long.
constexpr Index batch_tokens = 1024;

// A JSON value as JavaScript has it.
emscripten::val to_value(const Json& json);

// Values of which TypeScript has the types; register_type() in module.cpp names them.
EMSCRIPTEN_DECLARE_VAL_TYPE(ModelConfigValue);
EMSCRIPTEN_DECLARE_VAL_TYPE(TrainingConfigValue);
EMSCRIPTEN_DECLARE_VAL_TYPE(StringsValue);
EMSCRIPTEN_DECLARE_VAL_TYPE(DescriptionValue);

// Strings by name, without these names.
StringsValue strings_without(const StringMap& strings, std::initializer_list<const char*> left_out);
std::string string_of(const StringMap& strings, const char* name);

// The names of classes, or of tags, of an encoder.
std::optional<Labels> labels_of_encoder(const ModelFile& model, Labels LabelNames::*kind);

}  // namespace wasmformer
