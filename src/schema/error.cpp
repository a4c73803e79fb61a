#include "schema/error.h"

namespace wasmformer {
namespace {

std::string tagged(ErrorCode code, const std::string& sentence) {
  const std::string room = entry_of(code).room;
  return room.empty() ? sentence : "[" + room + "] " + sentence;
}

// In the build that proves that no code reads a sentence, all that an error says is its code.
#ifdef WASMFORMER_SENTENCES_ARE_CODES
std::string said(ErrorCode code, const std::string&) { return entry_of(code).name; }
#else
std::string said(ErrorCode, const std::string& sentence) { return sentence; }
#endif

}  // namespace

Error::Error(ErrorCode code, const std::string& sentence, Details details)
    : Error(code, Whole{tagged(code, sentence)}, std::move(details)) {}

Error::Error(ErrorCode code, const Whole& sentence, Details details)
    : std::runtime_error(said(code, sentence.text)), code_(code), details_(std::move(details)) {}

Error Error::with(const std::string& before, const std::string& after, Detail detail) const {
  Details details = details_;
  details.push_back(std::move(detail));
  return Error(code_, Whole{before + what() + after}, std::move(details));
}

void throw_error(ErrorCode code, const std::string& sentence, Details details) {
  throw Error(code, sentence, std::move(details));
}

}  // namespace wasmformer
