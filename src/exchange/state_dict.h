// State dicts of PyTorch, as torch.save() writes them: a zip of a pickle and its storages, or, before version
// 1.6, pickles with the storages behind them.
#pragma once

#include <string_view>

#include "io/safetensors.h"

namespace wasmformer {

// The tensors by name, views into `bytes`. Throws Error, naming the fault, for what pickle.h and zip.h
// refuse, storages that are not where they should be, and tensors that do not lie in one piece, row after
// row.
SafetensorsFile parse_state_dict(std::string_view bytes);

}  // namespace wasmformer
