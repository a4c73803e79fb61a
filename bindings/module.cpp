// The module's threads, loaded models, and the description of all options. Options come from JavaScript as JSON;
// results cross as values, lists as plain arrays and structs as plain objects, so that only LoadedModel, RunSetup,
// TrainingSession and the jobs must be deleted.
#include "module.h"

#include <algorithm>

#include "annotate.h"
#include "tasks/translate/evaluate.h"
#include "train/run_request.h"
#include "train/setup_steps.h"
#include "translate.h"

namespace wasmformer {

ThreadPool& pool(int threads) {
  static ThreadPool pool(threads);
  return pool;
}

emscripten::val to_value(const Json& json) {
  using emscripten::val;
  if (json.is_object()) {
    val object = val::object();
    for (const auto& [name, item] : json.items()) object.set(name, to_value(item));
    return object;
  }
  if (json.is_array()) {
    val array = val::array();
    for (const Json& item : json) array.call<void>("push", to_value(item));
    return array;
  }
  if (json.is_string()) return val(json.get<std::string>());
  if (json.is_boolean()) return val(json.get<bool>());
  return json.is_number() ? val(json.get<double>()) : val::null();
}

StringsValue strings_without(const StringMap& strings, std::initializer_list<const char*> left_out) {
  emscripten::val value = emscripten::val::object();
  for (const auto& [name, text] : strings) {
    const bool is_left_out = std::find(left_out.begin(), left_out.end(), name) != left_out.end();
    if (!is_left_out) value.set(name, text);
  }
  return StringsValue(value);
}

std::string string_of(const StringMap& strings, const char* name) {
  const auto entry = strings.find(name);
  return entry == strings.end() ? "" : entry->second;
}

std::optional<Labels> labels_of_encoder(const ModelFile& model, Labels LabelNames::*kind) {
  if (!task_of(model.transformer->config()).makes_heads()) return std::nullopt;
  return model.labels.*kind;
}

namespace {

int start_threads(int threads) { return pool(threads).size(); }

// The file is copied once, and kept no longer than it is read.
std::unique_ptr<LoadedModel> load(const Bytes& file, const std::string& use) {
  auto model = std::make_unique<LoadedModel>(from_bytes(file), pool());
  check_use(model->model().transformer->config(), use, "load");
  return model;
}

// Properties of the file in TranslatorInfo and EncoderInfo (bindings/js/shared/types.ts).
struct ModelInfo {
  ModelConfigValue config{emscripten::val::undefined()};
  Index parameters = 0;
  std::string precision, languages;
  StringsValue metadata{emscripten::val::undefined()};
  std::optional<Labels> classes, tags;
};

ModelInfo info(const LoadedModel& translator) {
  const ModelFile& model = translator.model();
  const Config& config = model.transformer->config();
  return {.config = ModelConfigValue(to_value(json_of(fields(config)))),
          .parameters = model.transformer->parameter_count(),
          .precision = model.precision,
          .languages = string_of(model.metadata, "languages"),
          .metadata = strings_without(model.metadata, {"languages", texts_key}),
          .classes = labels_of_encoder(model, &LabelNames::classes),
          .tags = labels_of_encoder(model, &LabelNames::tags)};
}

DescriptionValue describe() {
  Json all = describe_training();
  all["translate"] = schema_of<TranslateOptions>(Naming::camel);
  all["annotate"] = schema_of<AnnotateOptions>(Naming::camel);
  all["evaluate"] = schema_of<EvaluateOptions>(Naming::camel);
  return DescriptionValue(to_value(all));
}

}  // namespace
}  // namespace wasmformer

EMSCRIPTEN_BINDINGS(wasmformer_module) {
  using namespace emscripten;
  using namespace wasmformer;
  register_type<Bytes>("Uint8Array");
  register_array<std::string>("string[]");
  register_array<Bytes>("Uint8Array[]");
  register_optional<std::string>();
  register_optional<Labels>();
  register_type<ModelConfigValue>("import('./options.js').ModelConfig");
  register_type<TrainingConfigValue>("import('./options.js').TrainingConfig");
  register_type<StringsValue>("Record<string, string>");
  register_type<DescriptionValue>("object");
  value_object<ModelInfo>("ModelInfo")
      .field("config", &ModelInfo::config)
      .field("parameters", &ModelInfo::parameters)
      .field("precision", &ModelInfo::precision)
      .field("languages", &ModelInfo::languages)
      .field("metadata", &ModelInfo::metadata)
      .field("classes", &ModelInfo::classes)
      .field("tags", &ModelInfo::tags);
  class_<LoadedModel>("Translator")
      .function("start", &translator_start)
      .function("tokenize", &translator_tokenize)
      .function("annotate", &translator_annotate)
      .function("info", &info);

  function("startThreads", &start_threads);
  function("load", &load);
  function("describe", &describe);
}
