// A task brings to training its texts, examples, batches with their loss, and the figures of validation. The
// trainer, runs and checkpoints know only these classes. translate/, annotate/ and mask/ implement them; all_tasks()
// lists them.
#pragma once

#include <array>

#include "bundle/model_file.h"
#include "ops/cross_entropy.h"
#include "tasks/output_sample.h"
#include "tensor/thread_pool.h"
#include "wasmformer/training.h"

namespace wasmformer {

class Task;

// One text with everything known about it, to show; fields that a task lacks are empty.
struct KnownText {
  std::string text, translation;
  std::vector<std::string> words, classes, tags;
};

// Texts to learn from, or to validate on.
class Texts {
 public:
  virtual ~Texts() = default;
  virtual const Task& task() const = 0;
  virtual std::size_t size() const = 0;
  // Copies of these texts, in this order; each may be taken any number of times.
  virtual std::shared_ptr<Texts> select(std::span<const Index> which) const = 0;
  virtual KnownText known(std::size_t i) const = 0;
  // Texts that tokenizers are trained on: a list for each vocabulary that a model could have.
  virtual std::vector<std::vector<std::string>> sides() const = 0;
  // JSON of one text with all that is known of it, as checkpoints hold it, and back. Throws Error if it is damaged.
  virtual std::string to_json(std::size_t i) const = 0;
  virtual void add_json(const JsonObject& text, const Config& config) = 0;
  // Reads the settings that the config of the model decides, such as whether commas separate labels.
  virtual void settle(const Config&) {}
};

// The sums of weights that the means of a loss are taken over: one for each of its terms.
using LossTotals = std::array<double, 2>;

// Some examples, packed, with their loss. The model and the settings must outlive it.
class TaskBatch {
 public:
  virtual ~TaskBatch() = default;
  // Amount of text to learn from, in Task::unit().
  virtual Index units() const = 0;
  // Hides tokens of the input, if the task does so. `is_training`: off in validation.
  virtual void hide(std::uint64_t /*seed*/, bool /*is_training*/) {}
  // Lets the loss score only a sample of the vocabulary, drawn for the targets of this batch; shares keep the sample.
  // Throws Error if the task has no such loss.
  virtual void sample_outputs(const OutputSampler& sampler, std::uint64_t seed);
  virtual LossTotals totals() const = 0;
  // Consecutive examples with about 1/count of the tokens, or none if there are fewer examples than shares.
  virtual std::unique_ptr<TaskBatch> share(int index, int count) const = 0;
  // This batch's part of the mean over `totals`, or without them the mean of this batch, in which every example counts
  // alike. There must be something to learn, and the tape must be seeded.
  virtual CrossEntropy loss(Tape& tape, const LossTotals& totals, double label_smoothing) const = 0;
};

// Texts as token ids.
class Examples {
 public:
  virtual ~Examples() = default;
  virtual Index size() const = 0;
  // Tokens of both sides of one; an example with one side has 0 on the other.
  struct Sides {
    Index source = 0, target = 0;
  };
  virtual Sides tokens(Index example) const = 0;
  // A checksum of all token ids, so that a run is not continued, or shared, on other texts.
  virtual std::uint64_t fingerprint() const = 0;
  virtual std::unique_ptr<TaskBatch> pack(std::span<const Index> which, Transformer& transformer,
                                          const TrainingConfig& training) const = 0;
  // The mean loss of a model that guesses.
  virtual double guessing_loss(const Config& config, const TrainingConfig& training) const = 0;
  // Counts of each piece of the target vocabulary among the predictions, by its id; empty for tasks that predict none.
  virtual std::vector<Index> target_counts(const Config&) const { return {}; }
  // Throws Error for settings that only other tasks read.
  virtual void check(const TrainingConfig& training) const = 0;

  std::vector<Index> lines;  // the number of each example's text, from 0
  Index skipped = 0;         // texts that cannot be used
};

class Inference {
 public:
  virtual ~Inference() = default;
  virtual bool step() = 0;  // false when all is done
  virtual ValidationScores scores() = 0;
  // Gives the model what scores() found to suit it.
  virtual void settle(ModelFile&) const {}
};

// Settings that a run with a budget of minutes can choose, with the least steps that make them worth their time.
struct BudgetCandidate {
  Preset settings;
  Index least_steps = 0;
  bool fits_dropout = false;  // true if dropout follows from the passes over the texts, instead of the settings
};

class Task {
 public:
  virtual ~Task() = default;
  virtual const char* name() const = 0;
  // Returns whether models of this config are trained on the task, for checkpoints that do not name theirs.
  virtual bool trains(const Config& config) const = 0;
  virtual const char* unit() const = 0;  // unit of TaskBatch::units(): "tokens" or "texts"
  // The use of a trained model: "translate", "classify", "tag" or "".
  virtual const char* use(const Config& config) const = 0;
  // Passes over the texts without a better validation after which a run ends by itself; 0: it never does.
  virtual double patience() const { return 0; }
  virtual std::shared_ptr<Texts> no_texts() const = 0;
  // Texts of plain lines; null if the task needs more than a text to learn from.
  virtual std::shared_ptr<Texts> from_lines(std::vector<std::string> /*lines*/) const { return nullptr; }
  virtual std::unique_ptr<Examples> examples(const Texts& texts, const ModelFile& model,
                                             const TrainingConfig& training) const = 0;
  // The texts that validation uses, given the examples made of them.
  virtual std::shared_ptr<const Texts> usable(std::shared_ptr<const Texts> texts, const Examples&) const {
    return texts;
  }
  // Returns whether validation evaluates the model's results for texts, and not only its loss.
  virtual bool infers() const { return true; }
  // The arguments must outlive it.
  virtual std::unique_ptr<Inference> infer(const ModelFile& model, ThreadPool& pool, const Texts& texts) const = 0;

  // For the beginning of a run. New heads: on an encoder, new or of any model, with one vocabulary.
  virtual bool makes_heads() const = 0;
  virtual Preset preset(const Texts& texts) const = 0;
  // From the fastest to the largest.
  virtual std::vector<BudgetCandidate> budget_candidates(const Texts& texts) const {
    return {{.settings = preset(texts)}};
  }
  virtual LabelNames labels(const Texts& texts, const Config& config) const = 0;
  // Adds to a new model the parts that are learned before the first step. Throws Error for settings that do not fit it.
  virtual void prepare(ModelFile&, const Texts&, const TrainingConfig&) const {}
};

// More can be added.
std::vector<const Task*>& all_tasks();
// The task that trains such models; the task of a checkpoint, which may name it; the task of a name. Each throws Error
// for an unknown task.
const Task& task_of(const Config& config);
const Task& task_of(const ModelFile& model);
const Task& task_named(const std::string& name);
// Plain lines for the task of this name, or without one for `mask`. Throws Error if it learns from other texts.
std::shared_ptr<Texts> texts_of_lines(std::vector<std::string> lines, const std::string& task);
inline constexpr const char* task_key = "run.task";  // in the metadata of checkpoints, of tasks that are not built in

}  // namespace wasmformer
