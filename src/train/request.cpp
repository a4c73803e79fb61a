#include "train/request.h"

#include "tasks/translate/toy_tasks.h"
#include "train/optimizer.h"
#include "train/run_options.h"

namespace wasmformer {
namespace {

using Json = nlohmann::ordered_json;

Json presets() {
  Json all = Json::array();
  for (const std::string& name : preset_names()) {
    Preset p = preset(name);
    all.push_back({{"name", name},
                   {"peak", learning_rate(p.training, p.config.d_model, p.training.warmup_steps)},
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
                   {"mostPairs", task.most_pairs - task_valid_pairs},
                   {"pairs", task.pairs},
                   {"steps", task.steps}});
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
          {"config", schema(fields(config) + fields(training))}};
}

}  // namespace wasmformer
