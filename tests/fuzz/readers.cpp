// What libFuzzer calls: the reader whose number is in READER, which may refuse its input only by throwing an Error.
// To add a reader: add it to `readers`, and a file of its kind to fuzz.test.mjs.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

#include "bundle/safetensors.h"
#include "exchange/containers/npz.h"
#include "exchange/containers/state_dict.h"
#include "exchange/containers/yaml.h"
#include "exchange/containers/zip.h"
#include "exchange/import.h"
#include "exchange/marian/marian_bin.h"
#include "model/config.h"
#include "schema/error.h"
#include "tasks/annotate/labels.h"
#include "tasks/translate/translate_options.h"
#include "tasks/translate/word_alignment.h"
#include "text/tokenizer.h"
#include "train/run_request.h"

using namespace wasmformer;

namespace {

// Every tensor of at most two dimensions, as a model takes them.
void read_all(const SafetensorsFile& file) {
  for (const auto& [name, tensor] : file.tensors)
    if (tensor.shape.size() <= 2 && tensor.dtype != Dtype::i8 && tensor.dtype != Dtype::i64) file.matrix(name);
}

using Files = std::map<std::string, std::string>;

// Reads these files from the folder that an environment variable names.
Files files_of(const char* variable, std::initializer_list<const char*> names) {
  Files read;
  for (const char* name : names) {
    std::ifstream stream(std::string(std::getenv(variable)) + "/" + name, std::ios::binary);
    read[name] = {std::istreambuf_iterator<char>(stream), {}};
  }
  return read;
}

// A folder whose file `name` contains `bytes`.
void read_folder(const Files& files, const char* name, std::string_view bytes) {
  FolderFiles folder(files.begin(), files.end());
  folder[name] = bytes;
  import_folder(folder);
}

template <const auto& name>
void read_marian(std::string_view bytes) {
  static const Files files =
      files_of("MARIAN_FOLDER", {"config.json", "model.safetensors", "source.spm", "target.spm", "vocab.json"});
  read_folder(files, name, bytes);
}

template <const auto& name>
void read_student(std::string_view bytes) {
  static const Files files = files_of("STUDENT_FOLDER", {"model.int8.bin", "vocab.spm", "lex.tiny.s2t.bin"});
  read_folder(files, name, bytes);
}

template <const auto& name>
void read_bert(std::string_view bytes) {
  static const Files files = files_of("BERT_FOLDER", {"config.json", "model.safetensors", "vocab.txt"});
  read_folder(files, name, bytes);
}

const Tokenizer& student_tokenizer() {
  static const Files files = files_of("STUDENT_FOLDER", {"vocab.spm"});
  static const Tokenizer tokenizer(files.at("vocab.spm"));
  return tokenizer;
}

constexpr char config_json[] = "config.json", vocab_json[] = "vocab.json", vocab_txt[] = "vocab.txt",
               tokenizer_json[] = "tokenizer_config.json", weights[] = "model.safetensors",
               student_bin[] = "model.int8.bin", shortlist_bin[] = "lex.tiny.s2t.bin", vocab_spm[] = "vocab.spm";

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
    read_marian<config_json>,
    read_marian<vocab_json>,
    read_marian<tokenizer_json>,
    read_bert<config_json>,
    read_bert<vocab_txt>,
    read_bert<tokenizer_json>,
    read_bert<weights>,
    [](std::string_view bytes) { read_all(parse_marian_bin(bytes)); },
    read_student<student_bin>,
    read_student<shortlist_bin>,
    read_student<vocab_spm>,
    // Lines of target, source and probability.
    [](std::string_view bytes) { parse_lexicon(bytes, "lexicon", student_tokenizer(), student_tokenizer(), {}); },
    [](std::string_view bytes) {
      try {
        translate_options(std::string(bytes), {}, Naming::camel);
      } catch (const Error&) {
      }
      run_request(std::string(bytes));
    },
    [](std::string_view bytes) { student_tokenizer().decode(student_tokenizer().encode(bytes)); },
    [](std::string_view bytes) { parse_tsv(bytes, "corpus"); },
    [](std::string_view bytes) { parse_conll(bytes, "corpus"); },
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Reader read = readers[std::stoul(std::getenv("READER"))];
  try {
    read({reinterpret_cast<const char*>(data), size});
  } catch (const Error&) {
  }
  return 0;
}
