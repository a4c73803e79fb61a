// The words of raw text, as the treebanks of Universal Dependencies cut them.
#pragma once

#include <string_view>
#include <vector>

namespace wasmformer {

// Words, numbers, and every other visible character by itself; Chinese characters and kana one by one. Contractions
// are cut: do n't, it 's, can not, gon na, and in French l' homme. Other words with an apostrophe inside stay whole:
// O'Neill, aujourd'hui, 1960's. What is cut already, as n't and 's after a space, is not cut again.
std::vector<std::string_view> split_words(std::string_view text);

}  // namespace wasmformer
