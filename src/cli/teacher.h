// Sequence-level distillation (Kim and Rush 2016): a new model learns what a teacher makes of the sources.
#pragma once

#include <string>

#include "cli/training_loop.h"
#include "data/corpus.h"
#include "io/model_file.h"
#include "model/options.h"

namespace wasmformer {

struct TeacherOptions {
  std::string model;
  Index beam = 4;

  template <class Visitor>
  void visit(Visitor&& v) {
    v({"teacher", "a model whose translations of the sources, and of --mono, are learnt instead of the targets"},
      model);
    v({"teacher_beam", "the teacher's beam size; the hypothesis nearest to the target is learnt", between(1, 64)},
      beam);
  }
};

// The text with the teacher's translations as targets: of its hypotheses the nearest() to the target, or the best
// where that is empty. They are kept in the run's folder in teacher-NUMBER.tsv, written every minute, and later calls
// with the same teacher, beam and text continue from there. All ranks share the work.
ParallelText distilled(const TeacherOptions& options, const ModelFile& teacher, ParallelText text,
                       const TrainingLoopOptions& run);

}  // namespace wasmformer
