// Characters and stretches that the model cannot read. Each function returns the end of what begins at `begin`, or
// `begin` if there is no such thing.
#pragma once

#include <functional>
#include <string_view>

namespace wasmformer {

// Returns whether a vocabulary has a piece for this character, apart from bytes.
using KnowsCharacter = std::function<bool(char32_t)>;

// Emoji with all that belongs to them (UTS #51), and other symbols that the vocabulary lacks.
std::size_t end_of_emoji(std::u32string_view text, std::size_t begin, const KnowsCharacter& knows);

// Words in a script of which the vocabulary knows less than half of these letters. Latin letters always count as known.
std::size_t end_of_script(std::u32string_view text, std::size_t begin, const KnowsCharacter& knows);

}  // namespace wasmformer
