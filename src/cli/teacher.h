// The teacher of a training run in the program: it shows how far the translations are, and keeps them in a file.
#pragma once

#include <string>

#include "train/run_setup.h"

namespace wasmformer {

// Lets the run's teacher, which was read from this file, translate. What it has translated is saved every minute to
// teacher-NUMBER.tsv in the run's folder; later calls with the same teacher, beam and text continue from there. All
// ranks share the work.
void let_teacher_translate(RunSetup& setup, const std::string& teacher_file, const std::string& folder, int threads);

}  // namespace wasmformer
