// Names and numbers that a translation copies unchanged from its source.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

namespace wasmformer {

class CopyFinder {
 public:
  // Learns from sentence pairs which words are ordinary: those that occur somewhere in lower case.
  CopyFinder(const std::vector<std::string>& sources, const std::vector<std::string>& targets);

  // Capitalized words (at least 3 letters, only the first uppercase) found on both sides and not in the list of
  // ordinary words. "Toms" next to "Tom's" is the name Tom. Each once, in the order of the source.
  std::vector<std::u32string> names(std::u32string_view source, std::u32string_view target) const;
  bool is_ordinary(const std::u32string& small_letters) const { return ordinary_.contains(small_letters); }

 private:
  void learn(const std::string& line);

  std::unordered_set<std::u32string> ordinary_;
};

// Numbers that occur on both sides, each once, in the order of the source; 3,5 and 3.5 are the same, written 3.5.
std::vector<std::u32string> copied_numbers(std::u32string_view source, std::u32string_view target);
// "1.234,5" as "1.234.5": with one separator for points and commas.
std::u32string plain_number(std::u32string_view number);

// Counts of names and numbers that source and reference share, and of those that the hypothesis has too.
struct CopyRate {
  std::size_t names = 0, copied_names = 0, numbers = 0, copied_numbers = 0;
};
CopyRate copy_rate(const std::vector<std::string>& sources, const std::vector<std::string>& hypotheses,
                   const std::vector<std::string>& references);

}  // namespace wasmformer
