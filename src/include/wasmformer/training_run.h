// Trains a model: from texts, from a model to fine-tune, or from a checkpoint to resume.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "wasmformer/export.h"
#include "wasmformer/training.h"

namespace wasmformer {

// Texts of one kind; the others are empty.
struct TrainingData {
  ParallelText pairs = {};                    // for a translator
  std::vector<AnnotatedText> annotated = {};  // for a classifier or a tagger; all have classes, tags or both
  std::vector<std::string> lines = {};        // plain text: hidden tokens are predicted
};

// All of it is read by the constructor of TrainingRun and may be freed afterwards.
struct TrainingInput {
  TrainingData train = {};
  TrainingData valid = {};                // of the same kind; empty: 5% of `train` are held back, at most 500
  std::filesystem::path model_path = {};  // the model to fine-tune, or with RunRequest::resume the checkpoint
  std::span<const std::byte> model = {};  // the same as bytes
  std::span<const std::byte> source_tokenizer = {},
                             target_tokenizer = {};  // SentencePiece; one alone is for both sides
};

// Why TrainingRun::run() has ended.
enum class RunEnd { goal, patience, stopped };

// One thread at a time may call it.
class WASMFORMER_API TrainingRun {
 public:
  using Report = training_events::Report;

  // Makes tokenizers where none are given, and a model. `threads`: how many compute, the calling one included. Throws
  // Error when the request contradicts itself or the input, a text has no usable pair, a setting is impossible, a file
  // cannot be read, or a checkpoint was trained on other texts.
  explicit TrainingRun(const RunRequest& request, const TrainingInput& input = {}, int threads = 1);
  ~TrainingRun();
  TrainingRun(TrainingRun&&) noexcept;
  TrainingRun& operator=(TrainingRun&&) noexcept;

  // Takes steps until a goal of the options is reached, or without one until `stop` asks or patience is lost. `report`
  // is called every report_every steps and after each validation; it may call model_file() and checkpoint(). Throws
  // Error when the loss or the gradient is not finite, or training has diverged; the weights are then those from before
  // the step.
  RunEnd run(const RunOptions& options, const std::function<void(const Report&)>& report = {},
             const std::stop_token& stop = {});
  // Takes one step. Throws Error like run().
  StepReport step();
  // Scores the present weights on the texts that are held back.
  Validation validate();

  [[nodiscard]] Index steps() const noexcept;    // taken since the beginning of the run
  [[nodiscard]] double epochs() const noexcept;  // passes over the texts, the current one in part
  [[nodiscard]] Index parameter_count() const noexcept;

  // Bytes of a model file with the present weights, as floats (`wasmformer quantize` makes it small); of a checkpoint.
  [[nodiscard]] std::vector<std::byte> model_file() const;
  [[nodiscard]] std::vector<std::byte> checkpoint() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace wasmformer
