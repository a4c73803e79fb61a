// Texts with classes and tags, packed.
#pragma once

#include "tasks/annotate/labels.h"

namespace wasmformer {

class AnnotatedBatch : public TaskBatch {
 public:
  AnnotatedBatch(Transformer& transformer, const TrainingConfig& training)
      : transformer_(transformer), training_(training) {}

  Index units() const override { return static_cast<Index>(source_spans.size()); }
  void hide(std::uint64_t seed, bool is_training) override;
  LossTotals totals() const override;
  std::unique_ptr<TaskBatch> share(int index, int count) const override;
  CrossEntropy loss(Tape& tape, const LossTotals& totals, double label_smoothing) const override;

  std::vector<TokenId> source;  // texts in a row
  Spans source_spans;
  Index first_source = 0;  // rows of the whole batch before a share of it
  std::vector<TokenId> classes, tags;
  Spans class_spans;                              // spans of `classes`, one for each text
  std::vector<Index> tagged;                      // the rows of `source` that `tags` belong to, ascending
  std::vector<double> class_weights;              // empty: 1 each
  std::shared_ptr<const PieceSplitter> splitter;  // none: pieces stay whole

 private:
  void split_pieces(Random& random);
  Spans tag_spans() const;
  CrossEntropy class_loss(Tape& tape, Var memory, double total, double label_smoothing) const;
  CrossEntropy tag_loss(Tape& tape, Var memory, double total, double label_smoothing) const;

  Transformer& transformer_;
  const TrainingConfig& training_;
};

}  // namespace wasmformer
