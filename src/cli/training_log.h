// log.jsonl, written whole at each report so that it never ends in half a line.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tensor/matrix.h"

namespace wasmformer {

class TrainingLog {
 public:
  // `resume`: continues after the reports up to `step`; those of later steps, which run again, are dropped.
  // Throws Error naming file and line if one is no report.
  TrainingLog(std::string path, bool resume, Index step);

  // Of the run before it was resumed.
  double seconds() const { return seconds_; }
  void add(const nlohmann::ordered_json& entry);
  void write() const;

 private:
  std::string path_, text_;
  double seconds_ = 0;
};

}  // namespace wasmformer
