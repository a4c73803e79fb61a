// Sequence-level distillation (Kim and Rush 2016, section 3.3): a new model learns a teacher's translations of the
// sources instead of the targets.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "tasks/translate/corpus.h"
#include "tasks/translate/translator.h"
#include "text/metrics/bleu_and_chrf.h"
#include "train/distributed/communicator.h"

namespace wasmformer {

// The text with spaces instead of what ends a line of a file or a column of a line.
std::string on_one_line(std::string text);

// The pairs and, behind them, further sources, which have no targets.
ParallelText with_sources(ParallelText pairs, const std::vector<std::string>& sources);

// Finds new targets for a text: for each source the teacher's hypothesis nearest() to its target, or the best one if
// the target is empty. All ranks share the work; they must be given the same and step until it is done.
class Distillation {
 public:
  // `pool` and `ranks` must outlive it. `beam`: how many hypotheses the teacher finds for a source.
  Distillation(std::shared_ptr<const ModelFile> teacher, ThreadPool& pool, Communicator& ranks,
               const ParallelText& text, Index beam);

  Index beam() const { return search_.n_best; }
  // Pairs whose sources the teacher translates: each once, however often the text repeats it.
  const ParallelText& pairs() const { return pairs_; }
  // Continues after the first of pairs(), whose targets are known. The first rank decides how many they are.
  void resume(std::vector<std::string> targets);

  // Translates for about this time. False when all ranks have all targets.
  bool step_for(std::chrono::milliseconds time);
  // Number of pairs() that all ranks together have translated, as far as this one knows.
  std::size_t done() const;
  // The targets of the first of pairs(), each on one line; before the end only the first rank has them.
  const std::vector<std::string>& targets() const { return targets_; }

  // The text with its new targets. Valid once step_for() has returned false.
  ParallelText result() const;

 private:
  void begin_part();
  void end_part();
  void share_targets();

  std::shared_ptr<const ModelFile> teacher_;
  ThreadPool& pool_;
  Communicator& ranks_;
  BleuOptions bleu_;
  TranslateOptions search_;
  ParallelText pairs_;
  std::vector<std::size_t> pair_of_;  // index in pairs_ of each pair of the text
  std::vector<std::string> targets_;
  std::size_t done_ = 0;        // sources that all ranks have translated
  std::size_t part_begin_ = 0;  // start of this rank's part, while there is a translation
  std::optional<BatchedTranslation> translation_;
};

}  // namespace wasmformer
