// The terms of a glossary, as an option of a translation.
#pragma once

#include <string>
#include <vector>

#include "schema/options.h"

namespace wasmformer {

// A term of the source, and how it is to be translated.
struct GlossaryTerm {
  std::string source, target;

  template <class Visitor>
  void visit(Visitor&& v) {
    v({"source", "whole words of the source; * at the end stands for any ending"}, source);
    v({"target", "what the translation has for them, letter by letter"}, target);
  }
};

// Throws Error, with names as in `naming`, for a term without words on one of its sides, and for a source that is there
// twice.
void check_glossary(const std::vector<GlossaryTerm>& terms, Naming naming);

}  // namespace wasmformer
