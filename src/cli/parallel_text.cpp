#include "cli/parallel_text.h"

#include <charconv>

#include "cli/files.h"
#include "tensor/check.h"

namespace wasmformer {
namespace {

Columns columns_of(const std::string& text) {
  Columns columns;
  const char* end = text.data() + text.size();
  const auto source = std::from_chars(text.data(), end, columns.source);
  const bool has_comma = source.ec == std::errc() && source.ptr != end && *source.ptr == ',';
  const auto target = std::from_chars(has_comma ? source.ptr + 1 : end, end, columns.target);
  WASMFORMER_CHECK(has_comma && target.ec == std::errc() && target.ptr == end,
                   "[options] --columns '" << text << "' is not SOURCE,TARGET such as 0,1");
  return columns;
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
  return parse_tsv(read_file(o.tsv), o.tsv, columns_of(o.columns));
}

}  // namespace wasmformer
