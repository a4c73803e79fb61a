// A checkpoint: a model file that also holds what a run needs to continue with the same numbers.
// Tensors optimizer.mean.NAME and optimizer.variance.NAME; metadata `training` (TrainingConfig) and `progress`, JSON.
#pragma once

#include <limits>

#include "bundle/model_file.h"
#include "train/trainer.h"

namespace wasmformer {

// Keys of a checkpoint's metadata: how far the run is; both sets of texts, as a JSON object of arrays of
// Texts::to_json(), or the name of a synthetic task, such as "reverse, 3000 pairs"; and the augmentation.
inline constexpr const char* progress_key = "progress";
inline constexpr const char* texts_key = "run.texts";
inline constexpr const char* synthetic_task_key = "task";
inline constexpr const char* augment_key = "run.augment";

struct BestSoFar {
  // The loss, or ValidationScores::error. Checkpoints call it best_valid_loss.
  double error = std::numeric_limits<double>::infinity();
  Index step = 0;
};

// `model.transformer` is the one that `trainer` trains; `more` is further metadata.
std::string serialize_checkpoint(const ModelFile& model, Trainer& trainer, const BestSoFar& best,
                                 const std::map<std::string, std::string>& more = {});

// Throws Error for metadata under a key that describes the model or its run, such as "classes" or "task": the file
// could not be read again.
void check_metadata(const std::map<std::string, std::string>& given);

// The training config of a checkpoint. Throws Error when `metadata` holds none.
TrainingConfig checkpoint_config(const std::map<std::string, std::string>& metadata);

// Sets the moments and the progress of `trainer`, whose weights were parsed from the same bytes. Throws Error
// when moments are missing or of another shape.
BestSoFar restore_checkpoint(std::string_view bytes, Trainer& trainer);

}  // namespace wasmformer
