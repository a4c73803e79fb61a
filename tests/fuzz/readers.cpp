// What libFuzzer calls: the first byte of an input chooses the reader of the rest, which may refuse it by an
// Error and by nothing else. To add a reader: add it to `readers`, and a file of its kind to fuzz.test.mjs.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

#include "exchange/marian.h"
#include "exchange/npz.h"
#include "exchange/state_dict.h"
#include "exchange/yaml.h"
#include "exchange/zip.h"
#include "io/safetensors.h"
#include "model/config.h"
#include "tensor/check.h"

using namespace wasmformer;

namespace {

// Every tensor of at most two dimensions, as a model takes them.
void read_all(const SafetensorsFile& file) {
  for (const auto& [name, tensor] : file.tensors)
    if (tensor.shape.size() <= 2 && tensor.dtype != Dtype::i8 && tensor.dtype != Dtype::i64) file.matrix(name);
}

// The folder of MARIAN_FOLDER, in which `bytes` are the file `name`.
void read_folder(const std::string& name, std::string_view bytes) {
  static const auto files = [] {
    std::map<std::string, std::string> read;
    for (const char* file : {"config.json", "model.safetensors", "source.spm", "target.spm", "vocab.json"}) {
      std::ifstream stream(std::string(std::getenv("MARIAN_FOLDER")) + "/" + file, std::ios::binary);
      read[file] = {std::istreambuf_iterator<char>(stream), {}};
    }
    return read;
  }();
  FolderFiles folder(files.begin(), files.end());
  folder[name] = bytes;
  import_marian(folder);
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
    [](std::string_view bytes) { parse_model(bytes); },
    [](std::string_view bytes) { read_folder("config.json", bytes); },
    [](std::string_view bytes) { read_folder("vocab.json", bytes); },
    [](std::string_view bytes) { read_folder("tokenizer_config.json", bytes); },
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
