// Finds the label of texts with a model file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "wasmformer/annotation.h"
#include "wasmformer/export.h"

namespace wasmformer {

// A model that classifies, with its tokenizer and the threads that compute. Copies share them. Several threads may call
// one object at once.
class WASMFORMER_API Classifier {
 public:
  // As Translator: `threads` includes the calling one. Throws Error if the file cannot be read, is not a complete model
  // file or does not classify, or if `threads` is below 1.
  explicit Classifier(const std::filesystem::path& model, int threads = 1);
  explicit Classifier(std::span<const std::byte> model, int threads = 1);

  // Returns the labels with their probabilities, and the tagged words too if the model also tags. Of a text that is too
  // long for the model only the beginning is read; is_truncated is then true. Throws Error for impossible options and
  // text that is not UTF-8, and Stopped, after at most 2048 tokens, once `stop` asks.
  [[nodiscard]] Annotation classify(std::string_view text, const AnnotateOptions& options = {},
                                    const std::stop_token& stop = {}) const;
  // The same for any number of texts: one result per text, in order.
  [[nodiscard]] std::vector<Annotation> classify_batch(std::span<const std::string> texts,
                                                       const AnnotateOptions& options = {},
                                                       const std::stop_token& stop = {}) const;

  // The names of all labels. They live as long as the classifier.
  [[nodiscard]] const Labels& labels() const noexcept;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace wasmformer
