#include "exchange/containers/zip.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "bundle/crc32.h"
#include "schema/error.h"

namespace wasmformer {
namespace {

constexpr std::string_view local_mark = "PK\x03\x04", central_mark = "PK\x01\x02", end_mark = "PK\x05\x06",
                           end64_mark = "PK\x06\x06", locator_mark = "PK\x06\x07";
constexpr std::size_t local_bytes = 30, central_bytes = 46, end_bytes = 22, end64_bytes = 56, locator_bytes = 20;
constexpr std::uint64_t in_zip64 = 0xFFFFFFFF;  // the number is in the 64-bit extra field

// A record of fixed size, checked to lie in the file.
struct Record {
  std::string_view bytes;

  template <class T>
  std::uint64_t at(std::size_t offset) const {
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }
};

Record record(std::string_view file, std::uint64_t offset, std::size_t size, std::string_view mark, const char* what) {
  WASMFORMER_CHECK(offset <= file.size() && size <= file.size() - offset, ErrorCode::zip,
                   "the archive is truncated: its " << what << " at byte " << offset << " has " << size
                                                    << " bytes, the file " << file.size());
  const std::string_view bytes = file.substr(offset, size);
  WASMFORMER_CHECK(bytes.starts_with(mark), ErrorCode::zip, "there is no " << what << " at byte " << offset);
  return {bytes};
}

template <class... Numbers>
void append(std::string& out, Numbers... numbers) {
  (..., out.append(reinterpret_cast<const char*>(&numbers), sizeof numbers));
}

struct Directory {
  std::uint64_t files, begin, size;
};

Directory find_directory(std::string_view file) {
  const std::size_t end =
      file.size() < end_bytes ? std::string_view::npos : file.rfind(end_mark, file.size() - end_bytes);
  // A comment of up to 64 KiB may follow.
  WASMFORMER_CHECK(end != std::string_view::npos && file.size() - end - end_bytes <= 0xFFFF, ErrorCode::zip,
                   "the archive has no directory at its end; it is truncated or not a zip file");
  const Record last = record(file, end, end_bytes, end_mark, "end");
  if (end >= locator_bytes && file.substr(end - locator_bytes).starts_with(locator_mark)) {
    const Record locator = record(file, end - locator_bytes, locator_bytes, locator_mark, "locator");
    const Record end64 = record(file, locator.at<std::uint64_t>(8), end64_bytes, end64_mark, "end of 64 bits");
    return {end64.at<std::uint64_t>(32), end64.at<std::uint64_t>(48), end64.at<std::uint64_t>(40)};
  }
  return {last.at<std::uint16_t>(10), last.at<std::uint32_t>(16), last.at<std::uint32_t>(12)};
}

struct Sizes {
  std::uint64_t whole, packed, offset;
};

// The bytes of the 64-bit one among the extra fields, each of which is an id, a size and so many bytes; or none.
std::optional<std::string_view> zip64_field(std::string_view extra) {
  constexpr std::size_t header = 4;
  constexpr std::uint64_t zip64_id = 1;
  while (extra.size() >= header) {
    const Record field{extra};
    const std::uint64_t id = field.at<std::uint16_t>(0);
    const auto size = static_cast<std::size_t>(field.at<std::uint16_t>(2));
    extra.remove_prefix(header);
    if (size > extra.size()) break;
    if (id == zip64_id) return extra.substr(0, size);
    extra.remove_prefix(size);
  }
  return std::nullopt;
}

// The 64-bit extra field has those that do not fit the record, in this order.
void read_zip64(std::string_view extra, Sizes& sizes, const std::string& name) {
  const std::optional<std::string_view> bytes = zip64_field(extra);
  if (!bytes) return;
  const Record field{*bytes};
  std::size_t at = 0;
  for (std::uint64_t* number : {&sizes.whole, &sizes.packed, &sizes.offset}) {
    if (*number != in_zip64) continue;
    WASMFORMER_CHECK(at + sizeof *number <= bytes->size(), ErrorCode::zip,
                     "the sizes of '" << name << "' are truncated");
    *number = field.at<std::uint64_t>(at);
    at += sizeof *number;
  }
}

}  // namespace

bool is_zip(std::string_view bytes) { return bytes.starts_with(local_mark); }

std::map<std::string, std::string_view> parse_zip(std::string_view file) {
  const Directory directory = find_directory(file);
  WASMFORMER_CHECK(directory.begin <= file.size() && directory.size <= file.size() - directory.begin &&
                       directory.files <= directory.size / central_bytes,
                   ErrorCode::zip,
                   "a directory of " << directory.files << " files and " << directory.size << " bytes at byte "
                                     << directory.begin << " does not fit the file of " << file.size());
  std::map<std::string, std::string_view> files;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> places;  // begin and end, from the local record on
  std::uint64_t at = directory.begin;
  for (std::uint64_t i = 0; i < directory.files; ++i) {
    const Record entry = record(file, at, central_bytes, central_mark, "entry of the directory");
    const auto name_bytes = static_cast<std::size_t>(entry.at<std::uint16_t>(28)),
               extra_bytes = static_cast<std::size_t>(entry.at<std::uint16_t>(30));
    const std::size_t bytes =
        central_bytes + name_bytes + extra_bytes + static_cast<std::size_t>(entry.at<std::uint16_t>(32));
    const Record whole = record(file, at, bytes, central_mark, "entry of the directory");
    at += bytes;
    const std::string name(whole.bytes.substr(central_bytes, name_bytes));
    Sizes sizes{entry.at<std::uint32_t>(24), entry.at<std::uint32_t>(20), entry.at<std::uint32_t>(42)};
    read_zip64(whole.bytes.substr(central_bytes + name_bytes, extra_bytes), sizes, name);
    WASMFORMER_CHECK(entry.at<std::uint16_t>(10) == 0 && sizes.whole == sizes.packed, ErrorCode::zip,
                     "'" << name << "' is compressed; only stored files can be read");
    WASMFORMER_CHECK((entry.at<std::uint16_t>(8) & 1) == 0, ErrorCode::zip, "'" << name << "' is encrypted");

    const Record local = record(file, sizes.offset, local_bytes, local_mark, "file");
    const std::uint64_t begin = sizes.offset + local_bytes + local.at<std::uint16_t>(26) + local.at<std::uint16_t>(28);
    WASMFORMER_CHECK(begin <= file.size() && sizes.whole <= file.size() - begin, ErrorCode::zip,
                     "'" << name << "' has " << sizes.whole << " bytes from byte " << begin << " on, but the archive "
                         << file.size());
    places.emplace_back(sizes.offset, begin + sizes.whole);
    WASMFORMER_CHECK(files.emplace(name, file.substr(begin, sizes.whole)).second, ErrorCode::zip,
                     "the name '" << name << "' occurs twice");
  }
  std::sort(places.begin(), places.end());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::uint64_t next = i + 1 < places.size() ? places[i + 1].first : directory.begin;
    WASMFORMER_CHECK(
        places[i].second <= next, ErrorCode::zip,
        "the file at byte " << places[i].first << " ends at " << places[i].second << ", after the next begins");
  }
  return files;
}

std::string serialize_zip(const std::map<std::string, std::string>& files) {
  using U16 = std::uint16_t;
  using U32 = std::uint32_t;
  constexpr U16 version = 20, first_of_1980 = 0x21;
  std::string out, directory;
  for (const auto& [name, data] : files) {
    WASMFORMER_CHECK(data.size() < in_zip64 - out.size(), ErrorCode::zip,
                     "an archive of 4 GB or more cannot be written");
    std::string entry;  // no flags, stored
    append(entry, version, U16{0}, U16{0}, U16{0}, first_of_1980, crc32(data), static_cast<U32>(data.size()),
           static_cast<U32>(data.size()), static_cast<U16>(name.size()), U16{0});
    append(directory.append(central_mark), version);
    append(directory.append(entry), U16{0}, U16{0}, U16{0}, U32{0}, static_cast<U32>(out.size()));
    directory += name;
    out.append(local_mark).append(entry).append(name).append(data);
  }
  const auto count = static_cast<U16>(files.size());
  const auto begin = static_cast<U32>(out.size());
  append(out.append(directory).append(end_mark), U16{0}, U16{0}, count, count, static_cast<U32>(directory.size()),
         begin, U16{0});
  return out;
}

}  // namespace wasmformer
