#include "cli/progress.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>

#ifdef __EMSCRIPTEN__
#include <emscripten.h>
// isatty() is always true there.
EM_JS(bool, is_terminal, (int file), { return require('tty').isatty(file); });
#else
static bool is_terminal(int file) { return isatty(file); }
#endif

namespace wasmformer {

ProgressLine::ProgressLine() : terminal_(is_terminal(STDERR_FILENO)) {}

ProgressLine::~ProgressLine() { erase(); }

void ProgressLine::erase() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

void ProgressLine::update(double fraction, const std::string& text) {
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  constexpr int width = 24;
  std::string bar;
  if (fraction >= 0) {
    const int full = static_cast<int>(std::lround(fraction * width));
    for (int i = 0; i < width; ++i) bar += i < full ? "█" : "░";
    bar += ' ';
  }
  std::fprintf(stderr, "\r%s%s\033[K", bar.c_str(), text.c_str());
  drawn_ = true;
}

void ProgressLine::print(const std::string& text) {
  erase();
  std::fprintf(stderr, "%s\n", text.c_str());
}

std::string duration(double seconds) {
  const long s = std::lround(seconds);
  char text[32];
  if (s >= 3600)
    std::snprintf(text, sizeof text, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
  else
    std::snprintf(text, sizeof text, "%ld:%02ld", s / 60, s % 60);
  return text;
}

}  // namespace wasmformer
