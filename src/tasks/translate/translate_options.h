// Checks and reads the options of a translation (wasmformer/translate_options.h).
#pragma once

#include <string>

#include "model/config.h"
#include "tasks/translate/glossary_terms.h"
#include "text/keep/kinds.h"
#include "wasmformer/translate_options.h"

namespace wasmformer {

TranslateOptions greedy();  // the best token of each step

// Options by which the package translates texts that it evaluates.
struct EvaluateOptions {
  TranslateOptions translate{.beam_size = 1};

  template <class Visitor>
  void visit(Visitor&& v) {
    visit_search(v, translate.beam_size, translate.length_penalty);
    visit_keep(v, translate.keep);
  }
};

// The options, with beam_size 1 if they ask for sampling. Throws Error, with names as in `naming`, for a
// value out of range, options that exclude each other, and those that a model with this config cannot follow.
TranslateOptions checked(TranslateOptions options, const Config& config, Naming naming = Naming::snake);
// Throws Error if there is sampling and beam_size, which the user has given, is above 1.
void refuse_beam_with_sampling(const TranslateOptions& options, Naming naming);
// Parses the options in a JSON object and checks them. Throws Error as checked() does, and for unknown names.
TranslateOptions translate_options(const std::string& json, const Config& config, Naming naming);

}  // namespace wasmformer
