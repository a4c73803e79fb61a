#include "train/run_request.h"

#include "tasks/translate/toy_tasks.h"
#include "train/run_options.h"
#include "train/schedule.h"

namespace wasmformer {
namespace {

using Json = nlohmann::ordered_json;

Json presets() {
  Json all = Json::array();
  for (const std::string& name : preset_names()) {
    Preset p = preset(name);
    all.push_back({{"name", name},
                   {"peak", scheduled_rate(p.training, p.config.d_model, p.training.warmup_steps)},
                   {"config", json_of(fields(p.config) + fields(p.training))}});
  }
  return all;
}

Json task_list() {
  Json all = Json::array();
  for (const ToyTask& task : toy_tasks())
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

}  // namespace

RunRequest run_request(const std::string& json) {
  RunRequest request;
  from_json(json, fields(request), "train", Naming::camel);
  return request;
}

Json describe_training() {
  Config config;
  TrainingConfig training;
  return {{"presets", presets()},
          {"tasks", task_list()},
          {"request", schema_of<RunRequest>(Naming::camel)},
          {"run", schema_of<RunOptions>(Naming::camel)},
          {"config", schema(fields(config) + fields(training))},
          {"training", names(fields(training))}};
}

}  // namespace wasmformer
