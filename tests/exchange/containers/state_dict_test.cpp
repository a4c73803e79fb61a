// That real files are read right is in marian_test.cpp; here are pickles written out, and ones that lie.
#include "exchange/containers/state_dict.h"

#include <catch_amalgamated.hpp>

#include "schema/error.h"
#include "tests/exchange/containers/stored_zip.h"
#include "tests/support.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string text(const std::string& value) { return "X" + number(static_cast<std::uint32_t>(value.size())) + value; }
std::string integer(std::int32_t value) { return "J" + number(value); }
std::string numbers(const std::vector<std::int32_t>& values) {
  std::string tuple = "(";
  for (const std::int32_t value : values) tuple += integer(value);
  return tuple + "t";
}

struct Tensor {
  std::string type = "FloatStorage";
  std::int32_t numbers_of_storage = 6, offset = 0;
  std::vector<std::int32_t> sizes{2, 3}, strides{3, 1};
  std::string key = "0";
  std::string call = "ctorch._utils\n_rebuild_tensor_v2\n";

  std::string pickle() const {
    return call + "((" + text("storage") + "ctorch\n" + type + "\n" + text(key) + text("cpu") +
           integer(numbers_of_storage) + "tQ" + integer(offset) + numbers(sizes) + numbers(strides) + "\x89" +
           "ccollections\nOrderedDict\n)RtR";
  }
};

std::string dict(const std::string& value) {
  return "\x80\x02" + std::string("ccollections\nOrderedDict\n)R(") + text("w") + value + "u.";
}

std::string archive(const std::string& pickle, const std::string& storage) {
  StoredZip zip;
  zip.files = {{"m/data.pkl", pickle}, {"m/data/0", storage}, {"m/version", "3\n"}};
  return zip.bytes();
}

const std::string six_floats = number(1.0f) + number(2.0f) + number(3.0f) + number(4.0f) + number(5.0f) + number(6.0f);

}  // namespace

TEST_CASE("A pickled tensor is read: type, offset in its storage, shape") {
  Tensor tensor;
  SECTION("whole") {
    const std::string bytes = archive(dict(tensor.pickle()), six_floats);
    const SafetensorsFile file = parse_state_dict(bytes);
    CHECK(file.tensors.at("w").shape == std::vector<Index>{2, 3});
    CHECK(file.matrix("w")(1, 2) == 6);
  }
  SECTION("a part") {
    tensor.offset = 4, tensor.sizes = {1, 2}, tensor.strides = {77, 1};  // a stride over one row means nothing
    const std::string bytes = archive(dict(tensor.pickle()), six_floats);
    CHECK(parse_state_dict(bytes).matrix("w") == (Matrix(1, 2) << 5, 6).finished());
  }
  SECTION("a scalar, and an empty one") {
    tensor.offset = 5, tensor.sizes = {}, tensor.strides = {};
    const std::string bytes = archive(dict(tensor.pickle()), six_floats);
    CHECK(parse_state_dict(bytes).matrix("w")(0, 0) == 6);
    tensor.sizes = {0, 3}, tensor.strides = {3, 1};
    const std::string empty = archive(dict(tensor.pickle()), six_floats);
    CHECK(parse_state_dict(empty).matrix("w").size() == 0);
  }
  SECTION("of two bytes") {
    tensor.numbers_of_storage = 2, tensor.sizes = {2}, tensor.strides = {1};
    tensor.type = "HalfStorage";
    const std::string half = archive(dict(tensor.pickle()), std::string("\0\x3C\0\xC0", 4));
    CHECK(parse_state_dict(half).matrix("w") == (Matrix(1, 2) << 1, -2).finished());
    tensor.type = "BFloat16Storage";
    const std::string brain = archive(dict(tensor.pickle()), std::string("\x80\x3F\0\xC0", 4));
    CHECK(parse_state_dict(brain).matrix("w") == (Matrix(1, 2) << 1, -2).finished());
  }
}

TEST_CASE("Malicious and inconsistent pickles are refused without running anything") {
  Tensor tensor;
  std::string pickle, storage = six_floats, message;
  SECTION("a command") {
    pickle = "\x80\x02" + std::string("cposix\nsystem\n(") + text("touch /tmp/pickle-was-run") + "tR.";
    message = "[pickle] the file asks for posix.system, which is not part of a state dict";
  }
  SECTION("a command instead of _rebuild_tensor_v2") {
    tensor.call = "cbuiltins\neval\n";
    message = "[pickle] the file asks for builtins.eval";
  }
  SECTION("a class of its own") {
    tensor.call = "c__torch__.model\nMarian\n";
    message = "[pickle] the file asks for __torch__.model.Marian";
  }
  SECTION("another type of number") {
    tensor.type = "DoubleStorage";
    message =
        "[pickle] the file asks for torch.DoubleStorage, which is not part of a state dict of F32, F16 or "
        "BF16";
  }
  SECTION("an instance by another instruction") {
    pickle = "\x80\x02(iposix\nsystem\n.";
    message = "[pickle] instruction 0x69 at byte 3 is not used by state dicts; nothing was run";
  }
  SECTION("a storage type that is called") {
    pickle = "\x80\x02" + std::string("ctorch\nFloatStorage\n)R.");
    message = "[pickle] the file calls torch.FloatStorage";
  }
  SECTION("a newer protocol") {
    pickle = "\x80\x04.";
    message = "[pickle] protocol 4 is not supported; torch.save writes 2";
  }
  SECTION("a storage that is too small") {
    storage = six_floats.substr(4);
    message = "[pickle] the storage of tensor 'w' has 20 bytes, not 6 numbers of 4";
  }
  SECTION("a tensor beyond its storage") {
    tensor.offset = 1;
    message = "[pickle] tensor 'w' of 6 numbers from number 1 on is beyond its storage of 6";
  }
  SECTION("a size that overflows") {
    tensor.sizes = {1 << 30, 1 << 30, 1 << 30}, tensor.strides = {1, 1, 1};
    message = "[pickle] tensor 'w' is larger than its storage of 6 numbers";
  }
  SECTION("a negative size") {
    tensor.sizes = {-1, 3};
    message = "[pickle] tensor 'w' has a size or offset of -1";
  }
  SECTION("a transposed view") {
    tensor.strides = {1, 2};
    message = "[pickle] tensor 'w' is not contiguous; save it after contiguous()";
  }
  SECTION("no storage") {
    tensor.key = "1";
    message = "[pickle] the archive has no storage '1', of tensor 'w'";
  }
  SECTION("no tensor") {
    pickle = dict(integer(7));
    message = "[pickle] 'w' is not a tensor";
  }
  SECTION("no dict") {
    pickle = "\x80\x02" + integer(7) + ".";
    message = "[pickle] the file is not a dict of tensors";
  }
  SECTION("a key without a value") {
    pickle = "\x80\x02}(" + text("w") + "u.";
    message = "[pickle] a key has no value";
  }
  SECTION("a pop from an empty stack") {
    pickle = "\x80\x02\x86.";
    message = "takes a value from an empty stack";
  }
  SECTION("a pop below a mark") {
    pickle = "\x80\x02}(s.";
    message = "takes a value from an empty stack";
  }
  SECTION("an unknown memo") {
    pickle = std::string("\x80\x02h\x05.");
    message = "[pickle] there is no value 5 to repeat";
  }
  SECTION("a cycle") {
    pickle = std::string("\x80\x02}q\x01(") + text("w") + "h\x01u.";
    message = "[pickle] 'w' is not a tensor";
  }
  SECTION("an endless one") {
    pickle = "\x80\x02" + std::string((1 << 20) + 1, ')') + ".";
    message = "[pickle] the file has more than 1048576 instructions";
  }
  SECTION("one that doubles its values") {
    pickle = "\x80\x02" + std::string(9, ')') + "(" + std::string(9, ')') + "tQ.";
    message = "[pickle] an object is made of 9 values";
  }
  if (pickle.empty()) pickle = dict(tensor.pickle());
  CHECK_THROWS_WITH(parse_state_dict(archive(pickle, storage)), ContainsSubstring(message));
}

TEST_CASE("Files that torch.save() did not write are refused") {
  CHECK_THROWS_WITH(parse_state_dict("hello"), "[pickle] this is not a file of torch.save, or it is truncated");
  StoredZip zip;
  zip.files = {{"readme", "hello"}};
  CHECK_THROWS_WITH(parse_state_dict(zip.bytes()), "[pickle] the archive has no data.pkl, as one by torch.save does");
  zip.files = {{"m/data.pkl", dict(Tensor().pickle())}, {"m/data/0", six_floats}, {"m/byteorder", "big"}};
  CHECK_THROWS_WITH(parse_state_dict(zip.bytes()), "[pickle] the archive's numbers are not little-endian");
}

TEST_CASE("Inconsistent files from PyTorch before 1.6 are refused") {
  const std::string whole = read_file(own_fixtures_path() + "/marian/tiny-legacy/pytorch_model.bin");
  CHECK(parse_state_dict(whole).tensors.size() == 75);
  const auto with = [&whole](const std::string& from, const std::string& to) {
    const std::size_t at = whole.find(from);
    REQUIRE(at != std::string::npos);
    return std::string(whole).replace(at, from.size(), to);
  };
  CHECK_THROWS_WITH(parse_state_dict(with("ctorch._utils\n_rebuild_tensor_v2", "cos.path12345\n_rebuild_tensor_v2")),
                    ContainsSubstring("[pickle] the file asks for os.path12345._rebuild_tensor_v2"));
  CHECK_THROWS_WITH(
      parse_state_dict(with("little_endian" + std::string("q\x02\x88"), "little_endian" + std::string("q\x02\x89"))),
      "[pickle] the file's numbers are not little-endian");
  CHECK_THROWS_WITH(parse_state_dict(with("M\xE9\x03.", "M\xEA\x03.")),
                    "[pickle] the file's format version is not 1001");
  CHECK_THROWS_WITH(parse_state_dict(with("FloatStorage", "HalfStorage\nX")), ContainsSubstring("[pickle] "));
}

TEST_CASE("A truncated file from torch.save() is refused") {
  const std::string legacy = read_file(own_fixtures_path() + "/marian/tiny-legacy/pytorch_model.bin");
  const std::string small = archive(dict(Tensor().pickle()), six_floats);
  const auto cut = [](const std::string& whole, std::size_t size) {
    INFO(size);
    CHECK_THROWS_AS(parse_state_dict(std::string_view(whole).substr(0, size)), Error);
  };
  for (std::size_t size = 0; size < small.size(); ++size) cut(small, size);
  for (std::size_t size = 0; size < 2000; ++size) cut(legacy, size);
  for (std::size_t size = 2000; size < legacy.size(); size += 397) cut(legacy, size);
}

TEST_CASE("A pickle with any byte changed is read or refused") {
  const std::string whole = archive(dict(Tensor().pickle()), six_floats);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int flip : {1, 0x40, 0xFF}) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ flip);
      try {
        parse_state_dict(changed);
      } catch (const Error&) {
      }
    }
  }
  SUCCEED();
}
