// C++ exceptions, as JavaScript sees them.
#include <new>

#include "arrays.h"
#include "schema/error.h"

namespace wasmformer {
namespace {

using emscripten::val;

// JavaScript has the sentence, since it finds some of these errors itself.
constexpr const char* out_of_memory = "out-of-memory";

EMSCRIPTEN_DECLARE_VAL_TYPE(DetailsValue);

DetailsValue details_of(const Error& error) {
  val details = val::object();
  for (const Detail& detail : error.details())
    std::visit([&](const auto& value) { details.set(detail.name, value); }, detail.value);
  return DetailsValue(details);
}

// PlainError in bindings/js/shared/errors.ts, as far as C++ knows it.
struct DescribedError {
  std::string code, message, sentence;
  DetailsValue details{val::object()};
};

// `thrown`: an exception that has left the module. It is thrown again, so that C++ tells its type, and freed.
DescribedError describe_exception(const val& thrown) {
  try {
    thrown.throw_();
  } catch (const Error& error) {
    return {.code = entry_of(error.code()).name,
            .message = error.what(),
            .sentence = error.sentence(),
            .details = details_of(error)};
  } catch (const std::bad_alloc&) {
    return {.code = out_of_memory, .message = "", .sentence = ""};
  } catch (const std::exception& error) {
    return {.code = entry_of(ErrorCode::other).name, .message = error.what(), .sentence = error.what()};
  }
}

}  // namespace
}  // namespace wasmformer

EMSCRIPTEN_BINDINGS(wasmformer_errors) {
  using namespace emscripten;
  using wasmformer::DescribedError;
  register_type<wasmformer::DetailsValue>("Record<string, string | number>");
  value_object<DescribedError>("DescribedError")
      .field("code", &DescribedError::code)
      .field("message", &DescribedError::message)
      .field("sentence", &DescribedError::sentence)
      .field("details", &DescribedError::details);
  emscripten::function("describeException", &wasmformer::describe_exception);
}
