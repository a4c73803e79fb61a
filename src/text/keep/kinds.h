// Kinds of text that a model should copy instead of translating.
#pragma once

#include <algorithm>
#include <vector>

#include "schema/fields.h"

namespace wasmformer {

// Names of the option `keep`. `typography` maps quotes and dashes instead of keeping them; `off` keeps nothing.
enum class KeepName { url, path, code, placeholder, handle, emoji, markup, number, script, typography, off };
WASMFORMER_ENUM_NAMES(KeepName, "url", "path", "code", "placeholder", "handle", "emoji", "markup", "number", "script",
                      "typography", "off");
using KeepNames = std::vector<KeepName>;

inline bool contains(const KeepNames& names, KeepName name) { return std::ranges::find(names, name) != names.end(); }

// All but `off`.
inline KeepNames all_keep_names() {
  return {KeepName::url,   KeepName::path,   KeepName::code,   KeepName::placeholder, KeepName::handle,
          KeepName::emoji, KeepName::markup, KeepName::number, KeepName::script,      KeepName::typography};
}

}  // namespace wasmformer
