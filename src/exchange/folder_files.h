// A folder that holds a model of another program.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace wasmformer {

// The bytes of its files, by name.
using FolderFiles = std::map<std::string, std::string_view>;

// Throws Error if there is no such file.
std::string_view folder_file(const FolderFiles& files, const std::string& name);

}  // namespace wasmformer
