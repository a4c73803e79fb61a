// Start of every run, in the program, the package and the page: new, from a model to fine-tune, or from a
// checkpoint to resume. In two steps, since tokenizers may have to be trained in between: in WebAssembly that
// is another module's work.
#pragma once

#include <chrono>

#include "text/tokenizer_trainer.h"
#include "train/budget.h"
#include "train/distillation.h"
#include "train/run_request.h"
#include "train/training_run.h"

namespace wasmformer {

// The input of a run; parts that are not given are empty or null.
struct RunInput {
  std::shared_ptr<Texts> train, valid;
  std::string model;       // the bytes of the model to fine-tune, or of the checkpoint to resume
  std::string model_name;  // its file, for errors
  std::string source_tokenizer, target_tokenizer;  // SentencePiece .model files; one alone is for both sides
  std::shared_ptr<const ModelFile> teacher;        // model whose translations of the texts are learned
  double max_bytes = std::numeric_limits<double>::infinity();  // memory that a new run may take
};

struct TokenizerJob {
  std::vector<std::string> sentences;
  TokenizerOptions options;
};

class RunSetup {
 public:
  // Throws Error, naming the option, when the request contradicts itself, the input or the run that it resumes.
  RunSetup(RunRequest request, RunInput input);

  // The work of the teacher; null without one. Once done it is given to take(), before all that follows.
  std::unique_ptr<Distillation> distillation(ThreadPool& pool, Communicator& ranks) const;
  void take(const Distillation& done);

  // The tokenizers to train first: none, one for both sides, or the source's and the target's.
  std::vector<TokenizerJob> untrained() const;
  // Once only. `trained`: the .model files of untrained(). Throws Error when a text has no usable pair, a
  // setting is impossible, or a checkpoint was trained on other texts.
  std::unique_ptr<TrainingSession> begin(const std::vector<std::string>& trained, ThreadPool& pool);

 private:
  void take_tokenizers_of_teacher();
  void continue_run();
  void choose_encoder();
  void take_model();
  void choose_encoder_decoder();
  void take_texts();
  void check_resumed() const;
  Preset settings(const Preset& base, bool is_joint) const;
  Preset changed(Preset settings, bool is_joint) const;
  TokenizerPair tokenizers(const std::vector<std::string>& trained) const;
  TokenizerRequest tokenizer() const;
  Augmentation augmentation();
  TrainingStart with_new_heads(const std::vector<std::string>& trained) const;
  TrainingStart new_start(const std::vector<std::string>& trained) const;
  std::vector<BudgetCandidate> candidates() const;
  void choose_by_budget(const std::vector<std::string>& trained, ThreadPool& pool);

  RunRequest request_;
  JsonObject changes_;  // RunRequest::config
  RunInput input_;
  Preset settings_;                     // settings of a new run
  std::optional<TrainingStart> start_;  // start of a run that continues from a model
  TrainingTexts texts_;
  bool makes_heads_ = false;  // Task::makes_heads() of a new run
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::optional<BudgetPlan> plan_;
};

}  // namespace wasmformer
