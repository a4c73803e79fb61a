// Dynamic beam allocation (Post and Vilar 2018): a beam that is divided among candidates by how many tokens they still
// need to meet their constraints, so that those which have met some, at the cost of probability, are not crowded out.
#pragma once

#include "tasks/translate/beam.h"

namespace wasmformer {

constexpr Index least_divided_beam = 2;  // while hypotheses of a sentence have met more and less

struct BankedCandidate {
  BeamCandidate candidate;
  Index needed;  // tokens; 0: all constraints are met
};

// As choose_candidates() of beam.h. Candidates that end have met all constraints. Each bank, of candidates that need
// equally many tokens, gets an equal share of `width`, and what others leave free.
void choose_from_banks(std::span<BankedCandidate> candidates, Index width, TokenId eos,
                       std::vector<BeamChoice>& chosen);

}  // namespace wasmformer
