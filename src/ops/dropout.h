// Dropout (Srivastava et al. 2014) as part of other operations: the mask is a function of seed and element,
// so backward draws it again instead of storing it.
#pragma once

#include "autograd/tape.h"

namespace wasmformer {

class Dropout {
 public:
  // Off when `rate` is 0 or the tape does not record. `width`: elements per row of the batch, so that a part of a batch
  // has the masks of the whole.
  Dropout(Tape& tape, double rate, Index width)
      : on_(tape.recording() && rate > 0),
        seed_(on_ ? static_cast<std::uint32_t>(tape.next_seed()) : 0),
        threshold_(static_cast<std::uint32_t>(rate * 0x1p32)),
        first_(static_cast<std::uint32_t>(tape.first_row() * width)),
        scale_(static_cast<Scalar>(1 / (1 - rate))) {}

  explicit operator bool() const { return on_; }

  // Factor of element `index`: 0 with probability `rate`, else 1 / (1 - rate).
  Scalar operator()(Index index) const {
    return mix32((first_ + static_cast<std::uint32_t>(index)) * 0x9e3779b9u ^ seed_) >= threshold_ ? scale_ : Scalar(0);
  }

  // data[i] *= mask of element first + i.
  void apply(Scalar* data, Index first, Index count) const {
    if (!on_) return;
    // A copy in registers and no branch, so that compilers vectorise this.
    const Dropout mask = *this;
    for (Index i = 0; i < count; ++i) data[i] *= mask(first + i);
  }

 private:
  bool on_;
  std::uint32_t seed_, threshold_, first_;
  Scalar scale_;
};

}  // namespace wasmformer
