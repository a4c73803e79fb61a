// Classifier and Tagger: the same work under two names.
#include "library/bytes.h"
#include "library/loaded.h"
#include "library/mapped_file.h"
#include "wasmformer/classifier.h"
#include "wasmformer/tagger.h"

namespace wasmformer {

struct Classifier::Impl : Loaded {
  using Loaded::Loaded;
};
struct Tagger::Impl : Loaded {
  using Loaded::Loaded;
};

Classifier::Classifier(const std::filesystem::path& model, int threads)
    : impl_(std::make_shared<Impl>(MappedFile(model).bytes(), model.string(), "classify", threads)) {}

Classifier::Classifier(std::span<const std::byte> model, int threads)
    : impl_(std::make_shared<Impl>(text_of(model), "", "classify", threads)) {}

Annotation Classifier::classify(std::string_view text, const AnnotateOptions& options,
                                const std::stop_token& stop) const {
  const std::string one(text);
  return std::move(classify_batch({&one, 1}, options, stop).front());
}

std::vector<Annotation> Classifier::classify_batch(std::span<const std::string> texts, const AnnotateOptions& options,
                                                   const std::stop_token& stop) const {
  return annotations(*impl_, texts, options, stop);
}

const Labels& Classifier::labels() const noexcept { return impl_->model().labels.classes; }

Tagger::Tagger(const std::filesystem::path& model, int threads)
    : impl_(std::make_shared<Impl>(MappedFile(model).bytes(), model.string(), "tag", threads)) {}

Tagger::Tagger(std::span<const std::byte> model, int threads)
    : impl_(std::make_shared<Impl>(text_of(model), "", "tag", threads)) {}

Annotation Tagger::tag(std::string_view text, const AnnotateOptions& options, const std::stop_token& stop) const {
  const std::string one(text);
  return std::move(tag_batch({&one, 1}, options, stop).front());
}

std::vector<Annotation> Tagger::tag_batch(std::span<const std::string> texts, const AnnotateOptions& options,
                                          const std::stop_token& stop) const {
  return annotations(*impl_, texts, options, stop);
}

const Labels& Tagger::tags() const noexcept { return impl_->model().labels.tags; }

}  // namespace wasmformer
