// Code, placeholders of programs, and marks of formatting. Each function returns the end of what begins at `begin`, or
// `begin` if there is no such thing.
#pragma once

#include <string_view>

namespace wasmformer {

// `…` in back quotes, identifiers with _ between letters, calls such as print(), and names in camel case that have a
// digit, a dot or a call's brackets.
std::size_t end_of_code(std::u32string_view text, std::size_t begin);

// {name}, {0}, {{x}}, ${x}, $x, :x:, and directives of printf and Python such as %s, %1$d and %(name)s.
std::size_t end_of_placeholder(std::u32string_view text, std::size_t begin);

// Marks of lists and headings at the beginning of a line; **, __, ~~, [, ](…), footnote marks; tags and entities of
// HTML.
std::size_t end_of_markup(std::u32string_view text, std::size_t begin);

// A directive of printf without a number, such as %s, which another order of arguments would change.
bool is_unnumbered_directive(std::u32string_view span);

}  // namespace wasmformer
