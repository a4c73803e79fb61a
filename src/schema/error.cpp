#include "schema/error.h"

namespace wasmformer {
namespace {

std::string tag_of(ErrorCode code, const Details& details) {
  const std::string room = entry_of(code).room;
  if (!room.empty()) return "[" + room + "] ";
  for (const Detail& detail : details)
    if (std::string(detail.name) == "place") return "[" + std::get<std::string>(detail.value) + "] ";
  return "";
}

// In the build that proves that no code reads a sentence, all that an error says is its code.
#ifdef WASMFORMER_SENTENCES_ARE_CODES
std::string said(ErrorCode code, const std::string&) { return entry_of(code).name; }
#else
std::string said(ErrorCode, const std::string& text) { return text; }
#endif

}  // namespace

// Copies the details: arguments are made in any order, and tag_of() could find them moved.
Error::Error(ErrorCode code, const std::string& sentence, Details details)
    : Error(code, tag_of(code, details) + sentence, sentence, Details(details)) {}

Error::Error(ErrorCode code, const std::string& whole, const std::string& sentence, Details details)
    : std::runtime_error(said(code, whole)),
      code_(code),
      sentence_(said(code, sentence)),
      details_(std::move(details)) {}

Error Error::with(const std::string& before, const std::string& after, Detail detail) const {
  Details details = details_;
  details.push_back(std::move(detail));
  return Error(code_, before + what() + after, before + sentence_ + after, std::move(details));
}

Stopped::Stopped() : std::runtime_error("the call was asked to stop") {}

void throw_error(ErrorCode code, const std::string& sentence, Details details) {
  throw Error(code, sentence, std::move(details));
}

}  // namespace wasmformer
