// Translation with a model in the module, loaded or in training.
#pragma once

#include "module.h"
#include "tasks/translate/translator.h"

namespace wasmformer {

using Job = BatchedTranslation;

// `first`: how many texts come before these, for messages.
std::unique_ptr<Job> start(const ModelFile& model, const std::vector<std::string>& texts,
                           const TranslateOptions& options, Index first = 0);
// `json`: options by their names in JavaScript.
TranslateOptions translate_options(const ModelFile& model, const std::string& json);

std::unique_ptr<Job> translator_start(const LoadedModel& translator, const std::vector<std::string>& texts,
                                      const std::string& options, Index first);
std::vector<std::vector<SourceToken>> translator_tokenize(const LoadedModel& translator,
                                                          const std::vector<std::string>& texts,
                                                          const std::string& options);

}  // namespace wasmformer
