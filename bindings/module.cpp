// The module's threads, loaded models, and the description of all options. Options cross to JavaScript as JSON, lists
// as plain arrays and structs as plain objects, so that only Translator, RunPlan, TrainingRun and the jobs must be
// deleted.
#include "module.h"

#include "annotate.h"
#include "tasks/translate/evaluate.h"
#include "tasks/translate/translate_task.h"
#include "train/request.h"
#include "train/start.h"
#include "translate.h"

namespace wasmformer {

ThreadPool& pool(int threads) {
  static ThreadPool pool(threads);
  return pool;
}

void check_use(const Config& c, const std::string& use, const std::string& place) {
  const bool can = use == "translate" ? translate_task().trains(c) : (use == "tag" ? c.tags : c.classes) > 0;
  WASMFORMER_CHECK(can, ErrorCode::wrong_task, "this model does not " << use << "; it " << purpose(c), {"place", place},
                   {"use", use}, {"purpose", purpose(c)});
}

void add_labels(Json& info, const ModelFile& model) {
  if (!task_of(model.transformer->config()).makes_heads()) return;
  info["classes"] = model.labels.classes;
  info["tags"] = model.labels.tags;
}

namespace {

int start_threads(int threads) { return pool(threads).size(); }

// The file is copied once, and kept no longer than it is read.
std::unique_ptr<Translator> load(const Bytes& file, const std::string& use) {
  auto model = std::make_unique<Translator>(from_bytes(file), pool());
  check_use(model->model().transformer->config(), use, "load");
  return model;
}

// JSON of what TranslatorInfo or EncoderInfo in bindings/js/shared/types.ts says of the file.
std::string info(const Translator& translator) {
  const ModelFile& model = translator.model();
  Json metadata = model.metadata;
  for (const char* own : {"languages", texts_key}) metadata.erase(own);
  Config config = model.transformer->config();
  Json json{{"config", json_of(fields(config))},
            {"parameters", model.transformer->parameter_count()},
            {"precision", model.precision},
            {"languages", Json(model.metadata).value("languages", "")},
            {"metadata", metadata}};
  add_labels(json, model);
  return json.dump();
}

// JSON of Description in bindings/js/shared/description.ts.
std::string describe() {
  Json all = describe_training();
  all["translate"] = schema_of<TranslateOptions>(Naming::camel);
  all["annotate"] = schema_of<AnnotateOptions>(Naming::camel);
  all["evaluate"] = schema_of<EvaluateOptions>(Naming::camel);
  return all.dump();
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
  class_<Translator>("Translator")
      .function("start", &translator_start)
      .function("annotate", &translator_annotate)
      .function("info", &info);

  function("startThreads", &start_threads);
  function("load", &load);
  function("describe", &describe);
}
