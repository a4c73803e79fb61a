// Reads models of Marian (Junczys-Dowmunt et al. 2018): a folder of Hugging Face's MarianMT (config.json,
// model.safetensors or pytorch_model.bin, source.spm, target.spm, vocab.json), one of Marian itself (decoder.yml,
// *.npz, vocabularies), or a student of Firefox and Bergamot (*.bin, vocabularies).
#pragma once

#include "bundle/model_file.h"
#include "exchange/folder_files.h"

namespace wasmformer {

// The weights stay floats. Throws Error, with what was expected and found, if a file is missing or damaged,
// or if Transformer has no such model, as for BART's or recurrent decoders.
ModelFile import_marian(const FolderFiles& files);

}  // namespace wasmformer
