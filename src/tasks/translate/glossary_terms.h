// The terms of a glossary, as an option of a translation.
#pragma once

#include <vector>

#include "schema/options.h"
#include "wasmformer/translate_options.h"

namespace wasmformer {

// Throws Error, with names as in `naming`, for a term without words on one of its sides, and for a source that is there
// twice.
void check_glossary(const std::vector<GlossaryTerm>& terms, Naming naming);

}  // namespace wasmformer
