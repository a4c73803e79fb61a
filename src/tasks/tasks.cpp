#include "schema/error.h"
#include "tasks/annotate/labels.h"
#include "tasks/mask/mask_task.h"
#include "tasks/translate/translate_task.h"

namespace wasmformer {

void TaskBatch::sample_outputs(const OutputSampler&, std::uint64_t) {
  throw Error(ErrorCode::train, "output_sample is given, but this task scores the whole vocabulary");
}

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
  return named == model.metadata.end() ? task_of(model.transformer->config()) : task_named(named->second);
}

const Task& task_named(const std::string& name) {
  for (const Task* task : all_tasks())
    if (task->name() == name) return *task;
  throw Error(ErrorCode::train, "there is no objective '" + name + "' here");
}

std::shared_ptr<Texts> texts_of_lines(std::vector<std::string> lines, const std::string& task) {
  const Task& wanted = task.empty() ? mask_task() : task_named(task);
  std::shared_ptr<Texts> texts = wanted.from_lines(std::move(lines));
  WASMFORMER_CHECK(texts, ErrorCode::train, "the objective " << task << " needs more than plain text");
  return texts;
}

}  // namespace wasmformer
