#include "cli/parallel_text.h"

#include <charconv>

#include "cli/files.h"
#include "tensor/check.h"

namespace wasmformer {
namespace {

std::vector<std::string> split(const std::string& line, char separator) {
  std::vector<std::string> fields{""};
  for (char c : line) {
    if (c == separator)
      fields.emplace_back();
    else
      fields.back() += c;
  }
  return fields;
}

std::size_t column(const std::string& text, const std::string& columns) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  WASMFORMER_CHECK(error == std::errc() && end == text.data() + text.size(),
                   "[options] --columns '" << columns << "' is not SOURCE,TARGET such as 0,1");
  return value;
}

}  // namespace

ParallelText read_parallel_text(const ParallelTextOptions& o) {
  if (o.tsv.empty()) {
    WASMFORMER_CHECK(
        !o.source.empty() && !o.target.empty(),
        "[options] sentence pairs are missing: give a source and a target file, or one TSV file");
    ParallelText text{read_lines(o.source), read_lines(o.target)};
    WASMFORMER_CHECK(text.sources.size() == text.targets.size(),
                     "[corpus] " << o.source << " has " << text.sources.size() << " lines but " << o.target
                                 << " has " << text.targets.size());
    return text;
  }
  WASMFORMER_CHECK(o.source.empty() && o.target.empty(),
                   "[options] give either two files or one TSV file, not both");
  const auto names = split(o.columns, ',');
  WASMFORMER_CHECK(names.size() == 2,
                   "[options] --columns '" << o.columns << "' is not SOURCE,TARGET such as 0,1");
  const std::size_t source = column(names[0], o.columns), target = column(names[1], o.columns);
  ParallelText text;
  for (const std::string& line : read_lines(o.tsv)) {
    auto fields = split(line, '\t');
    WASMFORMER_CHECK(std::max(source, target) < fields.size(),
                     "[corpus] " << o.tsv << ", line " << text.sources.size() + 1 << " has " << fields.size()
                                 << " columns; --columns asks for " << o.columns);
    text.sources.push_back(fields[source]);
    text.targets.push_back(fields[target]);
  }
  return text;
}

}  // namespace wasmformer
