#include "bundle/safetensors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "schema/error.h"
#include "tensor/heap_sort.h"
#include "text/unicode/utf8.h"

static_assert(std::endian::native == std::endian::little,
              "the file's numbers are little-endian and copied as they are");

namespace wasmformer {
namespace {

using Json = nlohmann::json;

constexpr std::size_t length_bytes = 8;
constexpr std::size_t max_header_bytes = 100'000'000;  // the limit of the format's own reader
constexpr std::size_t max_names = 100'000;             // in one object; the largest models have thousands
constexpr std::size_t max_dimensions = 8;

struct DtypeInfo {
  const char* name;
  std::size_t bytes;
};

// In the order of Dtype's enumerators.
constexpr DtypeInfo dtypes[] = {{"F32", 4}, {"F16", 2}, {"I8", 1}, {"I32", 4}, {"I64", 8}, {"BF16", 2}, {"U8", 1}};

const DtypeInfo& info(Dtype dtype) { return dtypes[static_cast<std::size_t>(dtype)]; }

std::string shape_text(const std::vector<Index>& shape) {
  std::string text;
  for (const Index n : shape) text += (text.empty() ? "" : ", ") + std::to_string(n);
  return "[" + text + "]";
}

// Refuses a header that is too deep, repeats a key or has too many, before a tree is made of it. (A callback
// of Json::parse() would take quadratic time: after each object it walks over all of those before.)
class HeaderCheck : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    keys_.emplace_back();
    return open();
  }
  bool end_object() override {
    keys_.pop_back();
    return close();
  }
  bool start_array(std::size_t) override { return open(); }
  bool end_array() override { return close(); }
  bool key(string_t& key) override {
    WASMFORMER_CHECK(keys_.back().insert(key).second, ErrorCode::safetensors, "the name '" << key << "' occurs twice");
    WASMFORMER_CHECK(keys_.back().size() <= max_names, ErrorCode::safetensors,
                     "the header has more than " << max_names << " names");
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override { return false; }

 private:
  // An object of objects whose values are at most arrays of numbers.
  bool open() {
    ++depth_;
    WASMFORMER_CHECK(depth_ <= 3, ErrorCode::safetensors, "the header is nested more deeply than the format allows");
    return true;
  }
  bool close() {
    --depth_;
    return true;
  }

  int depth_ = 0;
  std::vector<std::set<std::string>> keys_;  // of each open object, so far
};

Json parse_header(std::string_view text) {
  HeaderCheck check;
  WASMFORMER_CHECK(Json::sax_parse(text.begin(), text.end(), &check), ErrorCode::header_not_json,
                   "the header is not JSON");
  Json json = Json::parse(text.begin(), text.end());
  WASMFORMER_CHECK(json.is_object(), ErrorCode::safetensors, "the header is not a JSON object");
  return json;
}

// A whole number from 0 that fits Index.
Index to_index(const Json& value, const std::string& name, const char* what) {
  WASMFORMER_CHECK(value.is_number_unsigned() && std::in_range<Index>(value.get<std::uint64_t>()),
                   ErrorCode::safetensors,
                   "tensor '" << name << "' has " << what << " " << value.dump()
                              << ", which is not a size this machine can address");
  return static_cast<Index>(value.get<std::uint64_t>());
}

// A tensor without its bytes, which are [begin, end) of the data.
struct Placed {
  std::string name;
  TensorEntry entry;
  Index begin = 0, end = 0;
};

Placed parse_entry(const std::string& name, const Json& json) {
  const auto field = [&](const char* key, Json::value_t type) -> const Json& {
    WASMFORMER_CHECK(json.is_object() && json.contains(key) && json[key].type() == type, ErrorCode::safetensors,
                     "tensor '" << name << "' has no valid '" << key << "'");
    return json[key];
  };
  Placed tensor;
  tensor.name = name;
  const auto& dtype = field("dtype", Json::value_t::string).get_ref<const std::string&>();
  const auto known = std::find_if(std::begin(dtypes), std::end(dtypes), [&](const auto& d) { return dtype == d.name; });
  WASMFORMER_CHECK(known != std::end(dtypes), ErrorCode::safetensors,
                   "tensor '" << name << "' is of type '" << dtype << "'; expected F32, F16, BF16, I8, I32 or I64");
  tensor.entry.dtype = static_cast<Dtype>(known - std::begin(dtypes));

  const Json& shape = field("shape", Json::value_t::array);
  WASMFORMER_CHECK(
      shape.size() <= max_dimensions, ErrorCode::safetensors,
      "tensor '" << name << "' has " << shape.size() << " dimensions; this reads at most " << max_dimensions);
  Index bytes = static_cast<Index>(known->bytes);
  bool zero = false;
  for (const Json& n : shape) {
    tensor.entry.shape.push_back(to_index(n, name, "a dimension"));
    zero |= tensor.entry.shape.back() == 0;
  }
  for (const Index n : tensor.entry.shape) {
    WASMFORMER_CHECK(zero || bytes <= std::numeric_limits<Index>::max() / n, ErrorCode::safetensors,
                     "tensor '" << name << "' of shape " << shape_text(tensor.entry.shape)
                                << " is larger than this machine can address");
    bytes = zero ? 0 : bytes * n;
  }

  const Json& offsets = field("data_offsets", Json::value_t::array);
  WASMFORMER_CHECK(offsets.size() == 2, ErrorCode::safetensors,
                   "tensor '" << name << "' has " << offsets.size() << " data_offsets instead of 2");
  tensor.begin = to_index(offsets[0], name, "an offset");
  tensor.end = to_index(offsets[1], name, "an offset");
  WASMFORMER_CHECK(tensor.begin <= tensor.end && tensor.end - tensor.begin == bytes, ErrorCode::safetensors,
                   "tensor '" << name << "' of type " << dtype << " and shape " << shape_text(tensor.entry.shape)
                              << " needs " << bytes << " bytes, but its offsets go from " << tensor.begin << " to "
                              << tensor.end);
  return tensor;
}

template <class T>
T value_at(std::string_view data, Index i) {
  T value;
  std::memcpy(&value, data.data() + static_cast<std::size_t>(i) * sizeof value, sizeof value);
  return value;
}

}  // namespace

const char* dtype_name(Dtype dtype) { return info(dtype).name; }
std::size_t dtype_bytes(Dtype dtype) { return info(dtype).bytes; }

SafetensorsFile parse_safetensors(std::string_view bytes) {
  WASMFORMER_CHECK(bytes.size() >= length_bytes, ErrorCode::header_too_short,
                   bytes.size() << " bytes are too few for a header", {"bytes", bytes.size()});
  const auto header_bytes = value_at<std::uint64_t>(bytes, 0);
  bytes.remove_prefix(length_bytes);
  WASMFORMER_CHECK(header_bytes <= bytes.size() && header_bytes <= max_header_bytes, ErrorCode::header_truncated,
                   "this is not a safetensors file, or it is truncated: a header of "
                       << header_bytes << " bytes should follow, but there are " << bytes.size(),
                   {"bytes", header_bytes}, {"size", bytes.size()});
  const std::string_view data = bytes.substr(header_bytes);
  const Json header = parse_header(bytes.substr(0, header_bytes));

  SafetensorsFile file;
  std::vector<Placed> tensors;
  for (const auto& [name, json] : header.items()) {
    if (name != "__metadata__") {
      tensors.push_back(parse_entry(name, json));
      continue;
    }
    WASMFORMER_CHECK(json.is_object(), ErrorCode::safetensors, "__metadata__ is not an object");
    for (const auto& [key, value] : json.items()) {
      WASMFORMER_CHECK(value.is_string(), ErrorCode::safetensors, "the metadata '" << key << "' is not a string");
      file.metadata[key] = value.get<std::string>();
    }
  }
  heap_sort(tensors,
            [](const Placed& a, const Placed& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  Index end = 0;
  for (Placed& tensor : tensors) {
    WASMFORMER_CHECK(tensor.begin == end, ErrorCode::safetensors,
                     "tensor '" << tensor.name << "' begins at byte " << tensor.begin
                                << " of the data, but the one before it ends at " << end);
    end = tensor.end;
    WASMFORMER_CHECK(std::cmp_less_equal(end, data.size()), ErrorCode::tensor_truncated,
                     "the file is truncated: tensor '" << tensor.name << "' ends at byte " << end
                                                       << " of the data, which has " << data.size(),
                     {"tensor", tensor.name}, {"end", end}, {"size", data.size()});
    tensor.entry.data =
        data.substr(static_cast<std::size_t>(tensor.begin), static_cast<std::size_t>(end - tensor.begin));
    file.tensors.emplace(std::move(tensor.name), std::move(tensor.entry));
  }
  WASMFORMER_CHECK(std::cmp_equal(end, data.size()), ErrorCode::safetensors,
                   "the tensors end at byte " << end << " of the data, which has " << data.size());
  return file;
}

Matrix SafetensorsFile::matrix(const std::string& name) const {
  const auto found = tensors.find(name);
  WASMFORMER_CHECK(found != tensors.end(), ErrorCode::safetensors, "tensor '" << name << "' is missing");
  const auto& [dtype, shape, data] = found->second;
  WASMFORMER_CHECK(shape.size() <= 2, ErrorCode::safetensors,
                   "tensor '" << name << "' of shape " << shape_text(shape) << " is not a matrix");
  WASMFORMER_CHECK(dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16 || dtype == Dtype::i32,
                   ErrorCode::safetensors,
                   "tensor '" << name << "' is of type " << info(dtype).name << " instead of F32, F16, BF16 or I32");
  Matrix values(shape.size() == 2 ? shape[0] : 1, shape.empty() ? 1 : shape.back());
  const auto read = [&, &bytes = data](auto number) {
    for (Index i = 0; i < values.size(); ++i)
      values.data()[i] = static_cast<Scalar>(value_at<decltype(number)>(bytes, i));
  };
  if (dtype == Dtype::f32) read(float{});
  if (dtype == Dtype::f16) read(Eigen::half{});
  if (dtype == Dtype::bf16) read(Eigen::bfloat16{});
  if (dtype == Dtype::i32) read(std::int32_t{});
  return values;
}

std::string serialize_safetensors(const std::vector<std::pair<std::string, TensorEntry>>& tensors,
                                  const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) {
    auto& json = header["__metadata__"] = nlohmann::ordered_json::object();
    for (const auto& [key, value] : metadata) {
      WASMFORMER_CHECK(is_utf8(key) && is_utf8(value), ErrorCode::safetensors,
                       "the metadata '" << key << "' is not UTF-8");
      json[key] = value;
    }
  }
  std::size_t data_bytes = 0;
  for (const auto& [name, tensor] : tensors) {
    std::size_t bytes = info(tensor.dtype).bytes;
    for (const Index n : tensor.shape) bytes *= static_cast<std::size_t>(n);
    WASMFORMER_CHECK(bytes == tensor.data.size(), ErrorCode::safetensors,
                     "tensor '" << name << "' of shape " << shape_text(tensor.shape) << " needs " << bytes
                                << " bytes, not " << tensor.data.size());
    WASMFORMER_CHECK(is_utf8(name) && name != "__metadata__" && !header.contains(name), ErrorCode::safetensors,
                     "'" << name << "' is not a valid name of a tensor, or is used twice");
    header[name] = {{"dtype", info(tensor.dtype).name},
                    {"shape", tensor.shape},
                    {"data_offsets", {data_bytes, data_bytes + bytes}}};
    data_bytes += bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the data can be read in place
  const std::uint64_t header_bytes = text.size();

  std::string file(length_bytes, '\0');
  std::memcpy(file.data(), &header_bytes, length_bytes);
  file.reserve(length_bytes + text.size() + data_bytes);
  file += text;
  for (const auto& [name, tensor] : tensors) file += tensor.data;
  return file;
}

std::string with_metadata(const SafetensorsFile& file, const std::map<std::string, std::string>& metadata) {
  std::vector<std::pair<std::string, TensorEntry>> tensors(file.tensors.begin(), file.tensors.end());
  heap_sort(tensors, [](const auto& a, const auto& b) { return a.second.data.data() < b.second.data.data(); });
  return serialize_safetensors(tensors, metadata);
}

}  // namespace wasmformer
