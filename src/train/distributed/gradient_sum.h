// The sum of the gradients of several batches and of all ranks. The sum over ranks begins layer by layer, while
// backward still computes the other layers.
#pragma once

#include "model/transformer.h"
#include "train/distributed/communicator.h"

namespace wasmformer {

class GradientSum {
 public:
  // Both must outlive it.
  GradientSum(Transformer& transformer, Communicator& ranks);

  // Discards the gradients that a failed step has added.
  void clear() {
    for (Bucket& bucket : buckets_) {
      bucket.is_empty = true;
      bucket.begun = false;
    }
  }
  // Takes the gradients of a batch and sets them to zero: each batch has sums of its own, so that the result does not
  // depend on which rank computed which batch.
  void add_batch() {
    for (Bucket& bucket : buckets_) add(bucket);
  }
  // The gradients of `layer` (encoder layers first) are complete in this rank's last batch.
  void begin_sum(Index layer) { begin_sum(buckets_[static_cast<std::size_t>(1 + layer)]); }
  // Begins the rest, waits for all, and puts the sums where the gradients were.
  void finish();

 private:
  struct Bucket {
    std::vector<Parameter*> parameters;
    std::vector<Scalar> values;
    bool is_empty = true, begun = false;
  };
  void add(Bucket& bucket);
  void begin_sum(Bucket& bucket);
  Communicator& ranks_;
  std::vector<Bucket> buckets_;  // [0]: parameters outside the layers; [1 + i]: layer i; completed from last to first
};

}  // namespace wasmformer
