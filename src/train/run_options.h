// Length of a run, and how often it reports and validates: the options of every front end (schema/options.h); a flag
// "" means that the program has none.
#pragma once

#include <limits>

#include "schema/options.h"
#include "tensor/matrix.h"

namespace wasmformer {

inline constexpr double seconds_per_minute = 60;

// The goal that is reached first ends a run.
struct RunOptions {
  std::optional<Index> steps;
  std::optional<double> epochs, minutes, budget;
  std::optional<double> patience;
  Index report_every = 10;
  std::optional<Index> validate_every;
  Index samples = 5;
  bool attention = false;
  std::vector<std::string> pinned;
  std::optional<Index> pin_every;

  template <class Visitor>
  void visit(Visitor&& v) {
    v({"steps", "stop after this many steps", at_least(1), "max-steps"}, steps);
    v({"epochs", "stop after this many passes over the training pairs", above(0), "max-epochs"}, epochs);
    v({"minutes", "stop after this many minutes", above(0), "max-minutes"}, minutes);
    v({"budget", "end the schedule, and with it the run, after this many minutes, however fast the steps are", above(0),
       ""},
      budget);
    v({"patience",
       "stop after this many passes without a better validation; 0 for never; by default 20 for labelled and tagged "
       "texts, unless steps or epochs are given",
       at_least(0)},
      patience);
    v({"report_every", "steps between events", at_least(1)}, report_every);
    v({"validate_every", "steps between validations; by default once per epoch", at_least(1)}, validate_every);
    v({"samples", "validation pairs, from the first, whose translations an event shows", at_least(0), ""}, samples);
    v({"attention", "include the attention of the samples", {}, ""}, attention);
    v({"pinned", "texts to translate greedily, with attention, during the run", {}, ""}, pinned);
    v({"pin_every", "steps between translations of the pinned texts; by default report_every", at_least(1), ""},
      pin_every);
  }

  // Decided by the front end, not by its users.

  // Point from which the goals count: the current state of the run, or its beginning.
  enum class Origin { here, beginning };
  Origin goals_count_from = Origin::here;
  double earlier_seconds = 0;  // spent on the run before, which a goal from the beginning includes
  // Without validate_every: epochs that end in fewer steps are not each validated, which would take most of the time.
  Index least_steps_between_validations = 20;
  std::optional<double> save_every;  // seconds between saves that validations do not cause; none: nothing is saved
};

}  // namespace wasmformer
