#include "schema/error.h"
#include "tasks/annotate/labels.h"
#include "tasks/mask/mask_task.h"
#include "tasks/translate/translate_task.h"

namespace wasmformer {

std::vector<const Task*>& all_tasks() {
  static std::vector<const Task*> tasks{&translate_task(), &annotate_task(), &mask_task()};
  return tasks;
}

const Task& task_of(const Config& config) {
  for (const Task* task : all_tasks())
    if (task->trains(config)) return *task;
  throw Error(ErrorCode::train, "no task trains such a model");
}

const Task& task_of(const ModelFile& model) {
  const auto named = model.metadata.find(task_key);
  if (named == model.metadata.end()) return task_of(model.transformer->config());
  for (const Task* task : all_tasks())
    if (task->name() == named->second) return *task;
  throw Error(ErrorCode::train, "this program does not know the task '" + named->second + "' of the run");
}

}  // namespace wasmformer
