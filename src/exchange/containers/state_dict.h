// PyTorch's state dicts as torch.save() writes them: a zip of a pickle and its storages or, before version
// 1.6, pickles followed by the storages.
#pragma once

#include <string_view>

#include "bundle/safetensors.h"

namespace wasmformer {

// The tensors by name, views into `bytes`. Throws Error, naming the fault, for what pickle.h and zip.h
// refuse, storages that are missing or too small, and tensors that are not contiguous.
SafetensorsFile parse_state_dict(std::string_view bytes);

}  // namespace wasmformer
