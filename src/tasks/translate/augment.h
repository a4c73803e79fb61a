// Text to train on, made from sentence pairs.
#pragma once

#include "schema/options.h"
#include "tasks/translate/corpus.h"

namespace wasmformer {

// Shares of the text: pairs that are added per pair.
struct Augmentation {
  double concat = 0;
  double names = 0;
  double lowercase = 0;
  double uppercase = 0;
  double no_final_punctuation = 0;

  template <class Visitor>
  void visit(Visitor&& v) {
    const Range share = between(0, 100);
    v({.name = "concat", .help = "two to four pairs as one", .range = share, .alias = "join"}, concat);
    v({"names", "names and numbers replaced by others, the same on both sides", share}, names);
    v({.name = "lowercase",
       .help = "both sides in lower case, or only their first letter",
       .range = share,
       .alias = "small"},
      lowercase);
    v({.name = "uppercase", .help = "both sides in capitals", .range = share, .alias = "capitals"}, uppercase);
    v({.name = "no_final_punctuation",
       .help = "both sides without their final punctuation mark",
       .range = share,
       .alias = "unmarked"},
      no_final_punctuation);
  }
  bool operator==(const Augmentation&) const = default;
};

// Repeats the text `weight` times; the fractional part selects evenly spaced pairs.
ParallelText weighted(const ParallelText& text, double weight);
inline constexpr Range corpus_weights = above(0).up_to(1000);

// The text, then as many changed copies of its pairs as the shares say, or fewer where few pairs can be changed so.
// Deterministic for a seed.
ParallelText augmented(ParallelText text, const Augmentation& shares, std::uint64_t seed);

}  // namespace wasmformer
