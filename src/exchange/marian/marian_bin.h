// Marian's .bin files: the weights of Firefox's and Bergamot's models, as floats or as 8-bit integers.
#pragma once

#include <string>
#include <string_view>

#include "bundle/safetensors.h"
#include "text/shortlist.h"

namespace wasmformer {

// An int8 tensor's multiplier is stored under the tensor's name with this suffix: value = byte / multiplier.
inline constexpr const char* multiplier_suffix = "#multiplier";

// The items by name, as views into `bytes`: f4 and f2 as they are; `intgemm8` as I8 with its multiplier, an F32 [1, 1],
// under the name and multiplier_suffix. Throws Error, naming the item, for packed types, whose layout is a
// processor's own, and for lengths that do not fit the file.
SafetensorsFile parse_marian_bin(std::string_view bytes);

// The same the other way round: I8 with a multiplier as `intgemm8`, other I8 as text. Items are in the order of their
// names, as Marian writes them.
std::string serialize_marian_bin(const SafetensorsFile& file);

// Returns whether the bytes begin like a Marian .bin file: version 1, and no more items than fit in it.
bool is_marian_bin(std::string_view bytes);

// Marian's binary lexical shortlist, for vocabularies of these sizes. Throws Error, naming the fault, if it is damaged
// or for another vocabulary.
Shortlist parse_marian_shortlist(std::string_view bytes, Index sources, Index targets);
bool is_marian_shortlist(std::string_view bytes);
// For a vocabulary of `sources` pieces.
std::string serialize_marian_shortlist(Shortlist shortlist, Index sources, Index targets);

}  // namespace wasmformer
