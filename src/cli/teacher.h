// Sequence-level distillation (Kim and Rush 2016): a new model learns a teacher's translations of the sources.
#pragma once

#include <string>

#include "bundle/model_file.h"
#include "cli/training_loop.h"
#include "tasks/translate/corpus.h"
#include "tasks/translate/translate_options.h"

namespace wasmformer {

struct TeacherOptions {
  std::string model;
  Index beam = 4;

  template <class Visitor>
  void visit(Visitor&& v) {
    v({"teacher", "a model whose translations of the sources, and of --mono, are learned instead of the targets"},
      model);
    v({"teacher_beam", "the teacher's beam size; the hypothesis nearest to the target is learned", hypothesis_counts},
      beam);
  }
};

// The text with the teacher's translations as targets: for each source, the hypothesis nearest() to its target, or the
// best one if the target is empty. They are saved every minute to teacher-NUMBER.tsv in the run's folder; later calls
// with the same teacher, beam and text continue from there. All ranks share the work.
ParallelText distilled(const TeacherOptions& options, const ModelFile& teacher, ParallelText text,
                       const TrainingOutput& run);

}  // namespace wasmformer
