#include "train/checkpoint.h"

#include <nlohmann/json.hpp>

#include "bundle/safetensors.h"
#include "tasks/task.h"

namespace wasmformer {
namespace {

// More than any run can take; beyond them numbers might overflow.
constexpr std::int64_t max_steps = std::int64_t{1} << 30;               // and epochs, and batches
constexpr std::int64_t max_tokens = std::numeric_limits<Index>::max();  // between two reports

// Calls f(tensor name, matrix) for all that the optimizer keeps, in the order of the parameters.
template <class F>
void for_each_moment(Trainer& trainer, F&& f) {
  std::size_t i = 0;
  trainer.transformer().visit([&](const ParameterInfo& info, const Parameter&) {
    Optimizer::Moments& moments = trainer.optimizer().moments()[i++];
    f(std::string(optimizer_prefix) + "mean." + info.name, moments.mean);
    if (moments.variance.size() > 0) f(std::string(optimizer_prefix) + "variance." + info.name, moments.variance);
    if (moments.exact.size() > 0) f(std::string(optimizer_prefix) + "exact." + info.name, moments.exact);
  });
}

}  // namespace

std::string serialize_checkpoint(const ModelFile& model, Trainer& trainer, const BestSoFar& best,
                                 const std::map<std::string, std::string>& more) {
  SafetensorsFile extra;
  extra.metadata = more;
  for_each_moment(trainer, [&](const std::string& name, const Matrix& m) {
    const auto bytes = static_cast<std::size_t>(m.size()) * sizeof(Scalar);
    extra.tensors[name] = {Dtype::f32, {m.rows(), m.cols()}, {reinterpret_cast<const char*>(m.data()), bytes}};
  });
  const Progress& p = trainer.progress();
  nlohmann::json progress{{"step", p.step},
                          {"epoch", p.epoch},
                          {"batch", p.batch},
                          {"loss_sum", p.loss_sum},
                          {"loss_tokens", p.loss_units},
                          {"corpus", std::to_string(trainer.examples().fingerprint())}};
  if (best.step > 0) {
    progress["best_step"] = best.step;
    progress["best_valid_loss"] = best.error;
  }
  extra.metadata["training"] = to_json(trainer.transformer().config(), &trainer.config());
  extra.metadata[progress_key] = progress.dump();
  return serialize_model(model, Precision::f32, extra);
}

void check_metadata(const std::map<std::string, std::string>& given) {
  for (const auto& [key, value] : given) {
    const bool is_of_run =
        key == progress_key || key == synthetic_task_key || key == texts_key || key == augment_key || key == task_key;
    WASMFORMER_CHECK(!is_of_run && !is_part_of_model(key), ErrorCode::train,
                     "metadata cannot have the key " << key << ": it describes the model or its run");
  }
}

TrainingConfig checkpoint_config(const std::map<std::string, std::string>& metadata) {
  const auto found = metadata.find("training");
  WASMFORMER_CHECK(found != metadata.end(), ErrorCode::no_checkpoint,
                   "this model file holds no state of a training run");
  Config config;
  TrainingConfig training;
  from_json(found->second, config, &training);
  return training;
}

BestSoFar restore_checkpoint(std::string_view bytes, Trainer& trainer) {
  const SafetensorsFile file = parse_safetensors(bytes);
  const auto found = file.metadata.find(progress_key);
  WASMFORMER_CHECK(found != file.metadata.end(), ErrorCode::no_checkpoint,
                   "this model file holds no state of a training run");
  for_each_moment(trainer, [&](const std::string& name, Matrix& m) {
    Matrix stored = file.matrix(name);
    WASMFORMER_CHECK(stored.rows() == m.rows() && stored.cols() == m.cols(), ErrorCode::checkpoint,
                     name << " is " << shape(stored) << ", not " << shape(m));
    m = std::move(stored);
  });
  const std::string corpus = std::to_string(trainer.examples().fingerprint());
  try {
    const auto progress = nlohmann::json::parse(found->second);
    const auto check_count = [&progress](const char* count, std::int64_t most) {
      const auto value = progress.value(count, nlohmann::json(0));
      WASMFORMER_CHECK(value.is_number_integer() && value <= most, ErrorCode::progress_damaged,
                       "the progress of the run is damaged: " << count << " is " << value.dump());
    };
    for (const char* count : {"step", "epoch", "batch", "best_step"}) check_count(count, max_steps);
    check_count("loss_tokens", max_tokens);
    trainer.resume({progress.at("step"), progress.at("epoch"), progress.at("batch"), progress.at("loss_sum"),
                    progress.at("loss_tokens")});
    WASMFORMER_CHECK(progress.value("corpus", corpus) == corpus, ErrorCode::checkpoint,
                     "the run was trained on other pairs than these");
    BestSoFar best;
    best.step = progress.value("best_step", Index(0));
    best.error = progress.value("best_valid_loss", best.error);
    return best;
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::progress_damaged, "the progress of the run is damaged: " + found->second);
  }
}

}  // namespace wasmformer
