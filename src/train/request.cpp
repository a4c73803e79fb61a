#include "train/request.h"

#include <nlohmann/json.hpp>

#include "schema/error.h"
#include "tasks/translate/toy_tasks.h"
#include "train/schedule.h"

namespace wasmformer {
namespace {

using Json = nlohmann::ordered_json;

Json presets() {
  Json all = Json::array();
  for (const std::string& name : preset_names()) {
    const Preset p = preset(name);
    all.push_back({{"name", name},
                   {"peak", scheduled_rate(p.training, p.config.d_model, p.training.warmup_steps)},
                   {"config", Json::parse(to_json(p.config, &p.training))}});
  }
  return all;
}

Json task_list() {
  Json all = Json::array();
  for (const Task& task : tasks())
    all.push_back({{"name", task.name},
                   {"help", task.what},
                   {"source", task.source},
                   {"target", task.target},
                   {"maxPairs", task.max_pairs - task_valid_pairs},
                   {"mostPairs", task.max_pairs - task_valid_pairs},
                   {"pairs", task.pairs},
                   {"steps", task.steps}});
  return all;
}

std::vector<std::string> names(const Fields& fields) {
  std::vector<std::string> all;
  for (const Field& field : fields) all.push_back(field.option.name);
  return all;
}

template <class Options>
Json schema_of() {
  Options options;
  return Json::parse(schema(fields(options), Naming::camel));
}

}  // namespace

RunRequest run_request(const std::string& json) {
  Json settings = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  WASMFORMER_CHECK(settings.is_object(), ErrorCode::train, "the options must be a JSON object");
  for (const char* name : {"config", "metadata"})
    if (settings.contains(name)) settings[name] = settings[name].dump();
  RunRequest request;
  from_json(settings.dump(), fields(request), "train", Naming::camel);
  return request;
}

std::string describe_training() {
  Config config;
  TrainingConfig training;
  return Json{{"presets", presets()},
              {"tasks", task_list()},
              {"request", schema_of<RunRequest>()},
              {"run", schema_of<RunOptions>()},
              {"config", Json::parse(schema(fields(config) + fields(training)))},
              {"training", names(fields(training))}}
      .dump();
}

}  // namespace wasmformer
