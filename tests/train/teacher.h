// A small teacher, and texts for it.
#pragma once

#include "tests/bundle/small_model.h"
#include "train/distillation.h"

namespace wasmformer {

inline std::shared_ptr<const ModelFile> small_teacher() {
  auto model = std::make_shared<ModelFile>(small::small_model());
  model->transformer->pack();
  return model;
}

// More sources than two ranks translate before they put them together, some of them twice.
inline ParallelText many_pairs() {
  ParallelText text;
  const std::string letters = "abc";
  for (int i = 0; i < 2300; ++i) {
    std::string source;
    for (int rest = i % 2200; rest >= 0; rest = rest / 3 - 1) source += letters[rest % 3];
    text.sources.push_back(source);
    text.targets.push_back(i % 2 ? source : "");
  }
  return text;
}

inline ParallelText distilled(Distillation& work) {
  while (work.step_for(std::chrono::seconds(1))) {
  }
  return work.result();
}

}  // namespace wasmformer
