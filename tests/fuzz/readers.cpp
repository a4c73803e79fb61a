// What libFuzzer calls: the first byte of an input chooses the reader of the rest, which may refuse it by an Error and
// by nothing else. To add a reader: add it to `readers`, and a file of its kind to fuzz.test.mjs.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "io/npz.h"
#include "io/safetensors.h"
#include "io/state_dict.h"
#include "io/yaml.h"
#include "io/zip.h"
#include "model/config.h"
#include "tensor/check.h"

using namespace wasmformer;

namespace {

// Every tensor of at most two dimensions, as a model takes them.
void read_all(const SafetensorsFile& file) {
  for (const auto& [name, tensor] : file.tensors)
    if (tensor.shape.size() <= 2 && tensor.dtype != Dtype::i8 && tensor.dtype != Dtype::i64) file.matrix(name);
}

using Reader = void (*)(std::string_view);
constexpr Reader readers[] = {
    [](std::string_view bytes) { read_all(parse_safetensors(bytes)); },
    [](std::string_view bytes) { read_all(parse_state_dict(bytes)); },
    [](std::string_view bytes) { read_all(parse_npz(bytes)); },
    [](std::string_view bytes) { parse_zip(bytes); },
    [](std::string_view bytes) { parse_yaml(bytes, "fuzz.yml"); },
    [](std::string_view bytes) {
      Config config;
      TrainingConfig training;
      from_json(std::string(bytes), config, &training);
      config.check();
      training.check();
    },
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Reader read = readers[data[0] % std::size(readers)];
  try {
    read({reinterpret_cast<const char*>(data) + 1, size - 1});
  } catch (const Error&) {
  }
  return 0;
}
