#include "exchange/containers/state_dict.h"

#include <cstring>
#include <unordered_map>
#include <utility>

#include "exchange/containers/pickle.h"
#include "exchange/containers/zip.h"
#include "schema/error.h"

namespace wasmformer {
namespace {

constexpr std::size_t max_dimensions = 8;
constexpr std::string_view magic("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 10);  // of torch before 1.6

// A tensor without its bytes.
struct StoredTensor {
  std::string name, storage;
  Dtype dtype;
  std::uint64_t numbers, offset;  // size of the storage; where the tensor begins in it
  std::vector<Index> shape;
  std::uint64_t size = 1;
};

class StateDict {
 public:
  StateDict(const Pickles& pickles, const PickleValue& dict) : pickles_(pickles) {
    WASMFORMER_CHECK(dict.kind == PickleValue::Kind::dict, ErrorCode::pickle, "the file is not a dict of tensors");
    for (std::size_t i = 0; i < dict.items.size(); i += 2) {
      const PickleValue &key = pickles.value(dict.items[i]), &value = pickles.value(dict.items[i + 1]);
      WASMFORMER_CHECK(key.kind == PickleValue::Kind::text, ErrorCode::pickle, "a key of the dict is not a string");
      const std::string name(key.text);
      WASMFORMER_CHECK(value.kind == PickleValue::Kind::tensor, ErrorCode::pickle, "'" << name << "' is not a tensor");
      tensors_.push_back(tensor(name, value));
    }
  }
  const std::vector<StoredTensor>& tensors() const { return tensors_; }

 private:
  const PickleValue& item(const PickleValue& of, std::size_t i, PickleValue::Kind kind, const std::string& name) const {
    WASMFORMER_CHECK(i < of.items.size() && pickles_.value(of.items[i]).kind == kind, ErrorCode::pickle,
                     "tensor '" << name << "' is not written as torch.save writes it");
    return pickles_.value(of.items[i]);
  }
  std::uint64_t number(const PickleValue& of, std::size_t i, const std::string& name) const {
    const std::int64_t value = item(of, i, PickleValue::Kind::number, name).number;
    WASMFORMER_CHECK(value >= 0 && std::in_range<Index>(value), ErrorCode::pickle,
                     "tensor '" << name << "' has a size or offset of " << value);
    return static_cast<std::uint64_t>(value);
  }

  // _rebuild_tensor_v2(('storage', type, key, device, numbers[, None]), offset, sizes, strides, …).
  StoredTensor tensor(const std::string& name, const PickleValue& value) const {
    using Kind = PickleValue::Kind;
    const PickleValue &storage = item(value, 0, Kind::storage, name), &sizes = item(value, 2, Kind::list, name),
                      &strides = item(value, 3, Kind::list, name);
    const Dtype* dtype = storage_dtype(item(storage, 1, Kind::global, name).text);
    WASMFORMER_CHECK(item(storage, 0, Kind::text, name).text == "storage" && dtype, ErrorCode::pickle,
                     "tensor '" << name << "' has no storage of a known type");
    if (storage.items.size() > 5) item(storage, 5, Kind::none, name);  // else a view of another storage
    StoredTensor tensor{name,
                        std::string(item(storage, 2, Kind::text, name).text),
                        *dtype,
                        number(storage, 4, name),
                        number(value, 1, name),
                        {}};
    WASMFORMER_CHECK(sizes.items.size() <= max_dimensions && sizes.items.size() == strides.items.size(),
                     ErrorCode::pickle,
                     "tensor '" << name << "' has " << sizes.items.size() << " dimensions and " << strides.items.size()
                                << " strides");
    for (std::size_t i = sizes.items.size(); i-- > 0;) {
      const std::uint64_t n = number(sizes, i, name), stride = number(strides, i, name);
      WASMFORMER_CHECK(n <= 1 || tensor.size == 0 || stride == tensor.size, ErrorCode::pickle,
                       "tensor '" << name << "' is not contiguous; save it after contiguous()");
      WASMFORMER_CHECK(n == 0 || tensor.size <= tensor.numbers / n, ErrorCode::pickle,
                       "tensor '" << name << "' is larger than its storage of " << tensor.numbers << " numbers");
      tensor.size *= n;
      tensor.shape.insert(tensor.shape.begin(), static_cast<Index>(n));
    }
    WASMFORMER_CHECK(tensor.offset <= tensor.numbers && tensor.size <= tensor.numbers - tensor.offset,
                     ErrorCode::pickle,
                     "tensor '" << name << "' of " << tensor.size << " numbers from number " << tensor.offset
                                << " on is beyond its storage of " << tensor.numbers);
    return tensor;
  }

  const Pickles& pickles_;
  std::vector<StoredTensor> tensors_;
};

// The tensors with their bytes; `storages` has each by `prefix` and its key.
template <class Storages>
SafetensorsFile with_bytes(const StateDict& dict, const Storages& storages, const std::string& prefix) {
  SafetensorsFile file;
  for (const StoredTensor& tensor : dict.tensors()) {
    const auto found = storages.find(prefix + tensor.storage);
    WASMFORMER_CHECK(found != storages.end(), ErrorCode::pickle,
                     "the " << (prefix.empty() ? "file" : "archive") << " has no storage '" << tensor.storage
                            << "', of tensor '" << tensor.name << "'");
    const std::string_view storage = found->second;
    const std::uint64_t bytes = dtype_bytes(tensor.dtype);
    WASMFORMER_CHECK(storage.size() % bytes == 0 && storage.size() / bytes == tensor.numbers, ErrorCode::pickle,
                     "the storage of tensor '" << tensor.name << "' has " << storage.size() << " bytes, not "
                                               << tensor.numbers << " numbers of " << bytes);
    TensorEntry entry{tensor.dtype, tensor.shape, storage.substr(tensor.offset * bytes, tensor.size * bytes)};
    WASMFORMER_CHECK(file.tensors.emplace(tensor.name, std::move(entry)).second, ErrorCode::pickle,
                     "the name '" << tensor.name << "' occurs twice");
  }
  return file;
}

SafetensorsFile parse_archive(std::string_view bytes) {
  const auto files = parse_zip(bytes);
  constexpr std::string_view pickle_name = "/data.pkl";
  std::string folder;
  for (const auto& [name, data] : files)
    if (name.ends_with(pickle_name)) folder = name.substr(0, name.size() - pickle_name.size() + 1);
  WASMFORMER_CHECK(!folder.empty(), ErrorCode::pickle, "the archive has no data.pkl, as one by torch.save does");
  const auto order = files.find(folder + "byteorder");
  WASMFORMER_CHECK(order == files.end() || order->second == "little", ErrorCode::pickle,
                   "the archive's numbers are not little-endian");
  Pickles pickles(files.at(folder + "data.pkl"));
  return with_bytes(StateDict(pickles, pickles.read()), files, folder + "data/");
}

// After the magic number: one pickle each of the version, the machine, the state dict and the storages' keys;
// then the storages, each after its size in 8 bytes.
SafetensorsFile parse_stream(std::string_view bytes) {
  Pickles pickles(bytes);
  const PickleValue version = pickles.read();
  WASMFORMER_CHECK(version.kind == PickleValue::Kind::number && version.number == 1001, ErrorCode::pickle,
                   "the file's format version is not 1001");
  const PickleValue machine = pickles.read();
  for (std::size_t i = 0; machine.kind == PickleValue::Kind::dict && i < machine.items.size(); i += 2)
    WASMFORMER_CHECK(
        pickles.value(machine.items[i]).text != "little_endian" || pickles.value(machine.items[i + 1]).number == 1,
        ErrorCode::pickle, "the file's numbers are not little-endian");
  const StateDict dict(pickles, pickles.read());
  const PickleValue keys = pickles.read();
  std::unordered_map<std::string, std::uint64_t> bytes_of;  // one number of each storage
  for (const StoredTensor& tensor : dict.tensors()) bytes_of[tensor.storage] = dtype_bytes(tensor.dtype);

  std::unordered_map<std::string, std::string_view> storages;
  std::string_view rest = pickles.rest();
  for (const PickleValue::Ref place : keys.items) {
    const std::string key(pickles.value(place).text);
    const auto known = bytes_of.find(key);
    WASMFORMER_CHECK(known != bytes_of.end(), ErrorCode::pickle, "the storage '" << key << "' belongs to no tensor");
    std::uint64_t numbers = 0;
    WASMFORMER_CHECK(rest.size() >= sizeof numbers, ErrorCode::pickle,
                     "the file is truncated before storage '" << key << "'");
    std::memcpy(&numbers, rest.data(), sizeof numbers);
    rest.remove_prefix(sizeof numbers);
    WASMFORMER_CHECK(numbers <= rest.size() / known->second, ErrorCode::pickle,
                     "the file is truncated: storage '" << key << "' has " << numbers << " numbers, " << rest.size()
                                                        << " bytes follow");
    storages[key] = rest.substr(0, numbers * known->second);
    rest.remove_prefix(numbers * known->second);
  }
  return with_bytes(dict, storages, "");
}

}  // namespace

SafetensorsFile parse_state_dict(std::string_view bytes) {
  if (is_zip(bytes)) return parse_archive(bytes);
  // PROTO 2, LONG1 of 10 bytes, STOP
  const std::string start = "\x80\x02\x8a\x0a" + std::string(magic) + ".";
  WASMFORMER_CHECK(bytes.starts_with(start), ErrorCode::not_torch,
                   "this is not a file of torch.save, or it is truncated");
  return parse_stream(bytes.substr(start.size()));
}

}  // namespace wasmformer
