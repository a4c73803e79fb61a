#include "tasks/use.h"

#include "schema/error.h"
#include "tasks/annotate/inference.h"
#include "tasks/translate/translate_task.h"

namespace wasmformer {
namespace {

bool can(const Config& c, const std::string& use) {
  if (use == "translate") return translate_task().trains(c);
  return use == "tag" ? c.tags > 0 : c.classes > 0;
}

}  // namespace

void check_use(const Config& c, const std::string& use, const std::string& place) {
  WASMFORMER_CHECK(can(c, use), ErrorCode::wrong_task, "this model does not " << use << "; it " << purpose(c),
                   {"place", place}, {"use", use}, {"purpose", purpose(c)});
}

}  // namespace wasmformer
