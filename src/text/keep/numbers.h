// Numbers that are copied digit by digit: four digits and more, or with a separator, sign, unit or letter, such as
// amounts, dates, times, versions and telephone numbers.
#pragma once

#include <string>
#include <string_view>

namespace wasmformer {

// The end of such a number that begins at `begin`, or `begin`.
std::size_t end_of_number_to_keep(std::u32string_view text, std::size_t begin);

// The number in `text` from `begin` to `end` with the separators of the target language, by Unicode's CLDR; as it is
// where it is no number of the source language, such as a date. Languages are codes of ISO 639-1; the number stays as
// it is for those that are unknown here.
std::u32string in_target_format(std::u32string_view text, std::size_t begin, std::size_t end, std::string_view source,
                                std::string_view target);

}  // namespace wasmformer
