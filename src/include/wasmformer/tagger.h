// Finds a tag for each word of texts, such as names of people and places, with a model file.
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

// A model that tags, with its tokenizer and the threads that compute. Copies share them. Several threads may call one
// object at once.
class WASMFORMER_API Tagger {
 public:
  // As Translator: `threads` includes the calling one. Throws Error if the file cannot be read, is not a complete model
  // file or does not tag, or if `threads` is below 1.
  explicit Tagger(const std::filesystem::path& model, int threads = 1);
  explicit Tagger(std::span<const std::byte> model, int threads = 1);

  // Returns the words of a text of any length with their tags, and the labels of the text too if the model also
  // classifies. Places are in bytes of UTF-8. Throws Error for impossible options and text that is not UTF-8, and
  // Stopped, after at most 2048 tokens, once `stop` asks.
  [[nodiscard]] Annotation tag(std::string_view text, const AnnotateOptions& options = {},
                               const std::stop_token& stop = {}) const;
  // The same for any number of texts: one result per text, in order.
  [[nodiscard]] std::vector<Annotation> tag_batch(std::span<const std::string> texts,
                                                  const AnnotateOptions& options = {},
                                                  const std::stop_token& stop = {}) const;

  // The names of all tags. They live as long as the tagger.
  [[nodiscard]] const Labels& tags() const noexcept;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace wasmformer
