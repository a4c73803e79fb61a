#include "library/loaded.h"

#include "schema/options.h"
#include "tasks/annotate/inference.h"
#include "tasks/use.h"

namespace wasmformer {
namespace {

constexpr const char* place = "annotate";

void check(const AnnotateOptions& options, const Config& config) {
  check_ranges(fields(options), place);
  WASMFORMER_CHECK(config.classes > 0 || options.top_labels == 0, ErrorCode::wrong_task,
                   "top_labels is given, but this model has no labels of whole texts", {"place", place});
  check_split(options, config, place);
}

}  // namespace

Loaded::Loaded(std::string_view bytes, const std::string& name, const char* use, int threads)
    : pool(threads), loaded(naming(name, [&] { return LoadedModel(bytes, pool); })) {
  check_use(model().transformer->config(), use, "load");
}

void check_stop(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Stopped();
}

std::vector<Annotation> annotations(const Loaded& loaded, std::span<const std::string> texts,
                                    const AnnotateOptions& options, const std::stop_token& stop) {
  check(options, loaded.model().transformer->config());
  const std::vector<std::string> all(texts.begin(), texts.end());
  AnnotationJob job(loaded.model(), loaded.pool, all, options);
  do check_stop(stop);
  while (job.step());
  return job.take();
}

}  // namespace wasmformer
