// A model as Firefox and Bergamot run students: Marian's .bin, SentencePiece vocabularies, a shortlist; or as Marian
// itself runs them: .npz and decoder.yml.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bundle/model_file.h"
#include "tensor/thread_pool.h"

namespace wasmformer {

// The bytes of each file, by its name: model.bin, vocab.spm, or srcvocab.spm and trgvocab.spm, and lex.s2t.bin if the
// model has a shortlist. Throws Error, naming the key, for a config that Marian does not have.
std::map<std::string, std::string> export_student(const ModelFile& model);

// The same with model.npz and decoder.yml instead of model.bin.
std::map<std::string, std::string> export_npz_student(const ModelFile& model);

// The same with matrices of int8. Inputs of products are rounded as the model's weights say (PackedMatrix) or, if they
// are floats, by what translating these texts needs; without texts, by what each product meets. Throws Error too if a
// side is no multiple of what Bergamot's products take, or if int8 weights have a scale per row.
std::map<std::string, std::string> export_int8_student(const ModelFile& model, ThreadPool& pool,
                                                       const std::vector<std::string>& texts);

}  // namespace wasmformer
