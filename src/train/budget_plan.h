// Choices of a run with a budget of minutes, and its expected steps and passes.
#pragma once

#include "model/config.h"

namespace wasmformer {

struct BudgetPlan {
  Preset settings;
  double seconds = 0;           // to train, of which tokenizers and measuring are already taken
  double seconds_per_step = 0;  // measured
  Index steps = 0;              // steps that the seconds allow, with validations
  double epochs = 0;            // passes over the texts that these make
};

}  // namespace wasmformer
