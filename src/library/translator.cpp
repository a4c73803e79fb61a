#include "wasmformer/translator.h"

#include <chrono>

#include "library/bytes.h"
#include "library/loaded.h"
#include "library/mapped_file.h"
#include "tasks/translate/translator.h"
#include "wasmformer/version.h"

namespace wasmformer {
namespace {

constexpr Index batch_tokens = 2048;

}  // namespace

const char* version() noexcept { return WASMFORMER_VERSION; }

struct Translator::Impl : Loaded {
  using Loaded::Loaded;
};

Translator::Translator(const std::filesystem::path& model, int threads)
    : impl_(std::make_shared<Impl>(MappedFile(model).bytes(), model.string(), "translate", threads)) {}

Translator::Translator(std::span<const std::byte> model, int threads)
    : impl_(std::make_shared<Impl>(text_of(model), "", "translate", threads)) {}

Translation Translator::translate(std::string_view text, const TranslateOptions& options,
                                  const std::stop_token& stop) const {
  const std::string one(text);
  return std::move(translate_batch({&one, 1}, options, stop).front());
}

std::vector<Translation> Translator::translate_batch(std::span<const std::string> texts,
                                                     const TranslateOptions& options,
                                                     const std::stop_token& stop) const {
  const std::vector<std::string> all(texts.begin(), texts.end());
  BatchedTranslation job(impl_->model(), impl_->pool, all, options, batch_tokens);
  job.refuse_too_long();
  // Threads that need not look at `stop` wait for each other less often.
  const std::chrono::milliseconds turn = stop.stop_possible() ? std::chrono::milliseconds(0) : std::chrono::seconds(1);
  do check_stop(stop);
  while (job.step_for(turn));
  return job.take();
}

std::vector<SourceToken> Translator::tokenize(std::string_view text) const {
  return std::move(impl_->loaded.tokenize({std::string(text)}).front());
}

Index Translator::max_length() const noexcept { return impl_->model().transformer->config().max_length; }
Index Translator::parameter_count() const noexcept { return impl_->model().transformer->parameter_count(); }
const std::map<std::string, std::string>& Translator::metadata() const noexcept { return impl_->model().metadata; }

}  // namespace wasmformer
