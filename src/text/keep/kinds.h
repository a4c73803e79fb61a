// Kinds of text that a model should copy instead of translating.
#pragma once

#include <algorithm>
#include <vector>

#include "wasmformer/translate_options.h"

namespace wasmformer {

inline bool contains(const KeepNames& names, KeepName name) { return std::ranges::find(names, name) != names.end(); }

// All but `off`.
inline KeepNames all_keep_names() {
  return {KeepName::url,   KeepName::path,   KeepName::code,   KeepName::placeholder, KeepName::handle,
          KeepName::emoji, KeepName::markup, KeepName::number, KeepName::script,      KeepName::typography};
}

}  // namespace wasmformer
