// What C++ has thrown, as JavaScript sees it.
#include <new>

#include "arrays.h"
#include "schema/error.h"

namespace wasmformer {
namespace {

using emscripten::val;

// JavaScript has the sentence, since it finds some of these errors itself.
constexpr const char* out_of_memory = "out-of-memory";

val details_of(const Error& error) {
  val details = val::object();
  for (const Detail& detail : error.details())
    std::visit([&](const auto& value) { details.set(detail.name, value); }, detail.value);
  return details;
}

EMSCRIPTEN_DECLARE_VAL_TYPE(DescribedError);

DescribedError described(const char* code, const std::string& message, const std::string& sentence, val details) {
  val error = val::object();
  error.set("code", std::string(code));
  error.set("message", message);
  error.set("sentence", sentence);
  error.set("details", std::move(details));
  return DescribedError(error);
}

// `thrown`: an exception that has left the module. It is thrown again, so that C++ tells its type, and freed.
DescribedError describe_exception(const val& thrown) {
  try {
    thrown.throw_();
  } catch (const Error& error) {
    return described(entry_of(error.code()).name, error.what(), error.sentence(), details_of(error));
  } catch (const std::bad_alloc&) {
    return described(out_of_memory, "", "", val::object());
  } catch (const std::exception& error) {
    return described(entry_of(ErrorCode::other).name, error.what(), error.what(), val::object());
  }
}

}  // namespace
}  // namespace wasmformer

EMSCRIPTEN_BINDINGS(wasmformer_errors) {
  using namespace emscripten;
  register_type<wasmformer::DescribedError>("Omit<import('../shared/errors.js').PlainError, 'name' | 'stack'>");
  emscripten::function("describeException", &wasmformer::describe_exception);
}
