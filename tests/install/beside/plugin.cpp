// Plugin that a program opens while it runs; the program knows nothing of the library.
#include <wasmformer/wasmformer.h>

#include <cstring>

// Writes the translation, or the code of the error, as a text of less than `size` bytes. Returns whether it is a
// translation.
extern "C" __attribute__((visibility("default"))) bool translate(const char* model, const char* text, char* result,
                                                                 std::size_t size) try {
  std::strncpy(result, wasmformer::Translator(model).translate(text).text.c_str(), size - 1);
  return true;
} catch (const wasmformer::Error& error) {
  std::strncpy(result, wasmformer::entry_of(error.code()).name, size - 1);
  return false;
}
