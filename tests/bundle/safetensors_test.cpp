#include "bundle/safetensors.h"

#include <catch_amalgamated.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "schema/error.h"
#include "tests/support.h"

using namespace wasmformer;

namespace {

std::string file(const std::string& header, const std::string& data) {
  const std::uint64_t size = header.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + header + data;
}

template <class T>
std::string bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string sample() {
  return file(R"({"__metadata__":{"a":"1"},"w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
              R"("n":{"dtype":"I32","shape":[3],"data_offsets":[16,28]},)"
              R"("s":{"dtype":"F16","shape":[],"data_offsets":[28,30]}})",
              bytes<float>({1.5f, -2, 3, 4}) + bytes<std::int32_t>({7, -8, 9}) + bytes<std::uint16_t>({0x3C00}));
}

}  // namespace

TEST_CASE("A safetensors file gives its tensors and metadata") {
  const std::string whole = sample();
  const SafetensorsFile parsed = parse_safetensors(whole);
  CHECK(parsed.metadata == std::map<std::string, std::string>{{"a", "1"}});
  REQUIRE(parsed.tensors.size() == 3);
  CHECK(parsed.tensors.at("w").shape == std::vector<Index>{2, 2});
  CHECK(parsed.tensors.at("n").dtype == Dtype::i32);
  const Matrix w = parsed.matrix("w");
  CHECK(w.rows() == 2);
  CHECK(w(0, 0) == 1.5);
  CHECK(w(0, 1) == -2);
  CHECK(w(1, 0) == 3);
  const Matrix n = parsed.matrix("n");
  CHECK(shape(n) == "[1, 3]");
  CHECK(n(0, 1) == -8);
  CHECK(shape(parsed.matrix("s")) == "[1, 1]");
  CHECK(parsed.matrix("s")(0, 0) == 1);
  CHECK_THROWS_WITH(parsed.matrix("x"), "[safetensors] tensor 'x' is missing");
}

TEST_CASE("BF16 values are the upper halves of floats") {
  const std::string whole = file(R"({"w":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]}})",
                                 bytes<std::uint16_t>({0x3F80, 0xC000, 0x4049, 0x0000}));
  const Matrix w = parse_safetensors(whole).matrix("w");
  CHECK(w == (Matrix(1, 4) << 1, -2, 3.140625, 0).finished());
}

TEST_CASE("F16 values follow IEEE 754") {
  // https://en.wikipedia.org/wiki/Half-precision_floating-point_format, examples
  const Matrix expected = (Matrix(1, 10) << 0, 0.000000059604645, 0.000060975552, 0.00006103515625, 0.33325195,
                           0.99951172, 1, 1.00097656, 65504, -2)
                              .finished();
  const std::string whole = file(R"({"w":{"dtype":"F16","shape":[13],"data_offsets":[0,26]}})",
                                 bytes<std::uint16_t>({0, 1, 0x03FF, 0x0400, 0x3555, 0x3BFF, 0x3C00, 0x3C01, 0x7BFF,
                                                       0xC000, 0x7C00, 0x7C01, 0x8000}));
  const Matrix w = parse_safetensors(whole).matrix("w");
  for (Index i = 0; i < expected.cols(); ++i) CHECK(w(0, i) == Catch::Approx(expected(0, i)).epsilon(1e-7));
  CHECK(w(0, 10) == std::numeric_limits<Scalar>::infinity());
  CHECK(std::isnan(w(0, 11)));
  CHECK(std::signbit(w(0, 12)));
}

TEST_CASE("Tensors in any order, empty tensors and scalars are read") {
  const std::string whole = file(R"({"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},)"
                                 R"("z":{"dtype":"F32","shape":[0,5],"data_offsets":[4,4]},)"
                                 R"("a":{"shape":[1,1],"dtype":"F32","data_offsets":[0,4]}}   )",
                                 bytes<float>({1, 2}));
  const SafetensorsFile parsed = parse_safetensors(whole);
  CHECK(parsed.matrix("a")(0, 0) == 1);
  CHECK(parsed.matrix("b")(0, 0) == 2);
  CHECK(shape(parsed.matrix("z")) == "[0, 5]");
  CHECK(parse_safetensors(file("{}", "")).tensors.empty());
}

TEST_CASE("Written files can be read back") {
  const std::string f32 = bytes<float>({1, 2, 3, 4, 5, 6}), i8 = bytes<std::int8_t>({1, -1, 127});
  const std::string i64 = bytes<std::int64_t>({1LL << 40});
  const std::vector<std::pair<std::string, TensorEntry>> tensors = {
      {"z", {Dtype::f32, {3, 2}, f32}}, {"a", {Dtype::i8, {3}, i8}}, {"s", {Dtype::i64, {}, i64}}};
  const std::map<std::string, std::string> metadata = {{"quote", "\"\\\n"}, {"text", "\u00FC \U0001F600"}};
  const std::string whole = serialize_safetensors(tensors, metadata);
  const SafetensorsFile parsed = parse_safetensors(whole);
  CHECK(parsed.metadata == metadata);
  REQUIRE(parsed.tensors.size() == 3);
  for (const auto& [name, tensor] : tensors) {
    CHECK(parsed.tensors.at(name).dtype == tensor.dtype);
    CHECK(parsed.tensors.at(name).shape == tensor.shape);
    CHECK(parsed.tensors.at(name).data == tensor.data);
  }
  // As the format asks: the data begins at a multiple of 8.
  std::uint64_t header = 0;
  std::memcpy(&header, whole.data(), sizeof header);
  CHECK(header % 8 == 0);
  CHECK(serialize_safetensors(tensors, metadata) == whole);
}

TEST_CASE("Invalid tensors and metadata are not written") {
  const std::string data = bytes<float>({1});
  const TensorEntry one{Dtype::f32, {1}, data};
  CHECK_THROWS_WITH(serialize_safetensors({{"a", {Dtype::f32, {2}, data}}}, {}),
                    "[safetensors] tensor 'a' of shape [2] needs 8 bytes, not 4");
  CHECK_THROWS_WITH(serialize_safetensors({{"a", one}, {"a", one}}, {}),
                    "[safetensors] 'a' is not a valid name of a tensor, or is used twice");
  CHECK_THROWS_AS(serialize_safetensors({{"__metadata__", one}}, {}), Error);
  CHECK_THROWS_AS(serialize_safetensors({{"\xFF", one}}, {}), Error);
  CHECK_THROWS_WITH(serialize_safetensors({}, {{"key", "\xFF"}}), "[safetensors] the metadata 'key' is not UTF-8");
}

TEST_CASE("A truncated file, or one with an extra byte, is refused") {
  const std::string whole = sample();
  parse_safetensors(whole);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    INFO(size);
    CHECK_THROWS_AS(parse_safetensors(std::string_view(whole).substr(0, size)), Error);
  }
  CHECK_THROWS_WITH(parse_safetensors(whole + "x"),
                    "[safetensors] the tensors end at byte 30 of the data, which has 31");
}

TEST_CASE("A file with any byte changed is read or refused") {
  const std::string whole = sample();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (int change = 1; change < 256; ++change) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ change);
      try {
        const SafetensorsFile parsed = parse_safetensors(changed);
        for (const auto& [name, tensor] : parsed.tensors) {
          if (tensor.dtype == Dtype::f32 || tensor.dtype == Dtype::f16 || tensor.dtype == Dtype::i32)
            parsed.matrix(name);
        }
      } catch (const Error&) {
      }
    }
  }
}

TEST_CASE("Real files are read, and refused if truncated") {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(fixtures_path())) {
    if (entry.path().extension() != ".safetensors") continue;
    ++files;
    const std::string path = entry.path().string(), whole = read_file(path);
    INFO(path);
    const SafetensorsFile parsed = parse_safetensors(whole);
    CHECK(!parsed.tensors.empty());
    for (const auto& [name, tensor] : parsed.tensors) {
      if (tensor.shape.size() <= 2) CHECK(parsed.matrix(name).allFinite());
    }
    for (std::size_t size = 0; size < whole.size(); size += 1 + whole.size() / 500) {
      CHECK_THROWS_AS(parse_safetensors(std::string_view(whole).substr(0, size)), Error);
    }
  }
  CHECK(files > 0);
}

TEST_CASE("An invalid header is refused, naming the fault") {
  const std::string four = bytes<float>({1});
  const auto one = [](const std::string& fields) { return "{\"a\":{" + fields + "}}"; };
  const auto [header, message] = GENERATE_COPY(table<std::string, std::string>({
      {"", "the header is not JSON"},
      {"{", "the header is not JSON"},
      {"[]", "the header is not a JSON object"},
      {"{\"a\":1}", "tensor 'a' has no valid 'dtype'"},
      {one(R"("dtype":"F32","shape":[1])"), "tensor 'a' has no valid 'data_offsets'"},
      {one(R"("dtype":"F32","data_offsets":[0,4])"), "tensor 'a' has no valid 'shape'"},
      {one(R"("dtype":1,"shape":[1],"data_offsets":[0,4])"), "tensor 'a' has no valid 'dtype'"},
      {one(R"("dtype":"F99","shape":[1],"data_offsets":[0,4])"),
       "tensor 'a' is of type 'F99'; expected F32, F16, BF16, I8, I32 or I64"},
      {one(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"),
       "tensor 'a' of type F32 and shape [2] needs 8 bytes, but its offsets go from 0 to 4"},
      {one(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])"),
       "tensor 'a' of type F32 and shape [1] needs 4 bytes, but its offsets go from 4 to 0"},
      {one(R"("dtype":"F32","shape":[1],"data_offsets":[0])"), "tensor 'a' has 1 data_offsets instead of 2"},
      {one(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"),
       "tensor 'a' begins at byte 4 of the data, but the one before it ends at 0"},
      {one(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])"),
       "the file is truncated: tensor 'a' ends at byte 8 of the data, which has 4"},
      {one(R"("dtype":"F32","shape":[],"data_offsets":[-4,0])"), "tensor 'a' has an offset -4,"},
      {one(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"), "tensor 'a' has a dimension -1,"},
      {one(R"("dtype":"F32","shape":[1.0],"data_offsets":[0,4])"), "tensor 'a' has a dimension 1.0,"},
      {one(R"("dtype":"F32","shape":["1"],"data_offsets":[0,4])"), "tensor 'a' has a dimension \"1\","},
      {one(R"("dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4])"), "tensor 'a' has a dimension"},
      {one(R"("dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,4])"), "tensor 'a' has a dimension"},
      {one(R"("dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4])"), "tensor 'a' has 9 dimensions"},
      {one(R"("dtype":"F32","shape":[[1]],"data_offsets":[0,4])"), "the header is nested more deeply"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
       "the name 'a' occurs twice"},
      {one(R"("dtype":"F32","dtype":"F16","shape":[1],"data_offsets":[0,4])"), "the name 'dtype' occurs twice"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
       "tensor 'b' begins at byte 0 of the data, but the one before it ends at 4"},
      {R"({"__metadata__":[]})", "__metadata__ is not an object"},
      {R"({"__metadata__":{"a":1}})", "the metadata 'a' is not a string"},
      {"{}", "the tensors end at byte 0 of the data, which has 4"},
      {std::string(100000, '['), "the header is nested more deeply"},
  }));
  CHECK_THROWS_WITH(parse_safetensors(file(header, four)), Catch::Matchers::StartsWith("[safetensors] " + message));
}

// 130,000 names took 16 seconds where each was looked for among all others.
TEST_CASE("A header has at most 100,000 names") {
  const auto header = [](int count) {
    std::string names;
    for (int i = 0; i < count; ++i)
      names +=
          (i > 0 ? "," : "") + ("\"" + std::to_string(i)) + R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
    return "{" + names + "}";
  };
  CHECK(parse_safetensors(file(header(100'000), "")).tensors.size() == 100'000);
  CHECK_THROWS_WITH(parse_safetensors(file(header(100'001), "")),
                    "[safetensors] the header has more than 100000 names");
}

TEST_CASE("Shapes whose product overflows are refused") {
  // 2^31 · 2^31 · 4 bytes is 0 modulo 2^64.
  const std::string header = R"({"a":{"dtype":"F32","shape":[2147483647,2147483647,4],"data_offsets":[0,0]}})";
  CHECK_THROWS_WITH(parse_safetensors(file(header, "")),
                    Catch::Matchers::ContainsSubstring("larger than this machine"));
}

TEST_CASE("A header longer than the file is refused before it is read") {
  std::string whole = sample();
  const std::uint64_t size = GENERATE(1ULL << 20, 1ULL << 33, ~0ULL);
  std::memcpy(whole.data(), &size, sizeof size);
  CHECK_THROWS_WITH(parse_safetensors(whole), Catch::Matchers::ContainsSubstring("truncated"));
}

TEST_CASE("Only matrices of numbers become a Matrix") {
  const std::string whole = file(R"({"a":{"dtype":"F32","shape":[1,1,1],"data_offsets":[0,4]},)"
                                 R"("b":{"dtype":"I8","shape":[4],"data_offsets":[4,8]}})",
                                 bytes<float>({1, 2}));
  const SafetensorsFile parsed = parse_safetensors(whole);
  CHECK_THROWS_WITH(parsed.matrix("a"), "[safetensors] tensor 'a' of shape [1, 1, 1] is not a matrix");
  CHECK_THROWS_WITH(parsed.matrix("b"), "[safetensors] tensor 'b' is of type I8 instead of F32, F16, BF16 or I32");
}
