// Sentence pairs from two files of lines or one TSV file.
#pragma once

#include <string>
#include <vector>

#include "data/corpus.h"

namespace wasmformer {

struct ParallelTextOptions {
  std::string source, target;   // two files, line by line, or
  std::string tsv;              // one file of columns
  std::string columns = "0,1";  // source and target column of it, from 0
};

// Throws Error naming the file when the files differ in length or a line lacks a column.
ParallelText read_parallel_text(const ParallelTextOptions& options);

}  // namespace wasmformer
