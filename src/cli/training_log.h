// log.jsonl, rewritten whole at each report so that it never ends in half a line.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tensor/matrix.h"

namespace wasmformer {

class TrainingLog {
 public:
  // `resume`: goes on after the reports up to `step`; those of later steps, which run again, are dropped.
  TrainingLog(std::string path, bool resume, Index step);

  // Of the run before it was resumed.
  double seconds() const { return seconds_; }
  void add(const nlohmann::ordered_json& entry);

 private:
  std::string path_, text_;
  double seconds_ = 0;
};

}  // namespace wasmformer
