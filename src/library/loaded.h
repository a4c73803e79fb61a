// A model file with the threads that use it: what stands behind Translator, Classifier and Tagger.
#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/translate/translator.h"
#include "wasmformer/annotation.h"

namespace wasmformer {

struct Loaded {
  // `name`: of its file, for errors. `use`: what the model must do, as check_use() names it. Throws Error as
  // parse_model() and check_use().
  Loaded(std::string_view bytes, const std::string& name, const char* use, int threads);

  const ModelFile& model() const { return loaded.model(); }

  mutable ThreadPool pool;  // several threads may use it at once
  LoadedModel loaded;
};

// Throws Stopped once `stop` asks.
void check_stop(const std::stop_token& stop);

// The labels and tags of texts. Throws Error for options that do not fit the model, and Stopped.
std::vector<Annotation> annotations(const Loaded& loaded, std::span<const std::string> texts,
                                    const AnnotateOptions& options, const std::stop_token& stop);

}  // namespace wasmformer
