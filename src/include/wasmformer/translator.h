// Translates sentences with a model file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "wasmformer/export.h"
#include "wasmformer/translate_options.h"
#include "wasmformer/translation.h"

namespace wasmformer {

// A model with its tokenizers, and the threads that compute. Copies share them. Several threads may call one object at
// once.
class WASMFORMER_API Translator {
 public:
  // Reads a model file. A path is mapped into memory while it is read; the bytes may be freed afterwards.
  // `threads`: how many a call uses, its own included. Throws Error if the file cannot be read, is not a complete model
  // file or does not translate, or if `threads` is below 1.
  explicit Translator(const std::filesystem::path& model, int threads = 1);
  explicit Translator(std::span<const std::byte> model, int threads = 1);

  // Translates one sentence of at most max_length() tokens. Throws Error for impossible options, text that is not UTF-8
  // and a sentence that is too long (ErrorCode::too_long), and Stopped, within a step of the search, once `stop` asks.
  [[nodiscard]] Translation translate(std::string_view text, const TranslateOptions& options = {},
                                      const std::stop_token& stop = {}) const;
  // Translates any number of sentences, which is faster than one by one. Returns one translation per sentence, in
  // order. Throws like translate(), and names the sentence, counted from 1.
  [[nodiscard]] std::vector<Translation> translate_batch(std::span<const std::string> texts,
                                                         const TranslateOptions& options = {},
                                                         const std::stop_token& stop = {}) const;
  // Deleted, because two strings in braces would become one wrong text. Use translate_batch().
  std::vector<Translation> translate(std::initializer_list<const char*> texts, const TranslateOptions& options = {},
                                     const std::stop_token& stop = {}) const = delete;

  // The tokens that translate() reads of a text of any length, the end token last. Throws Error for text that is not
  // UTF-8.
  [[nodiscard]] std::vector<SourceToken> tokenize(std::string_view text) const;

  // The longest sentence, in tokens, the end token included.
  [[nodiscard]] Index max_length() const noexcept;
  [[nodiscard]] Index parameter_count() const noexcept;
  // Metadata of the model, such as "languages", "corpus" and "licence". It lives as long as the translator.
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const noexcept;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace wasmformer
