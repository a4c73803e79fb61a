#include "cli/progress.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "train/training_run.h"

#ifdef __EMSCRIPTEN__
#include <emscripten.h>
// isatty() is always true there.
EM_JS(bool, is_terminal, (int file), { return require('tty').isatty(file); });
#else
static bool is_terminal(int file) { return isatty(file); }
#endif

namespace wasmformer {
namespace {

bool shows_warnings_only = false;

}  // namespace

void show_warnings_only() { shows_warnings_only = true; }

ProgressLine::ProgressLine() : terminal_(is_terminal(STDERR_FILENO)) {}

ProgressLine::~ProgressLine() { erase(); }

void ProgressLine::erase() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

bool ProgressLine::is_due() const {
  constexpr std::chrono::milliseconds between_updates{100};
  return terminal_ && !shows_warnings_only && std::chrono::steady_clock::now() - last_ >= between_updates;
}

void ProgressLine::update(double fraction, const std::string& text) {
  if (!is_due()) return;
  last_ = std::chrono::steady_clock::now();
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
  if (!shows_warnings_only) warn(text);
}

void ProgressLine::warn(const std::string& text) {
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

std::string time_left(double seconds, double done) {
  return done > 0 ? "  " + duration(seconds * (1 - done) / done) + " left" : "";
}

void ProgressOf::update(double share, const std::string& text) {
  const auto now = std::chrono::steady_clock::now();
  if (!start_) {
    start_ = now;
    first_ = share;
  }
  const double seconds = std::chrono::duration<double>(now - *start_).count();
  const std::string left = share > first_ ? time_left(seconds, (share - first_) / (1 - first_)) : "";
  line_.update(share, what_ + " " + text + left);
}

void ProgressOf::update(double share) { update(share, percent(share)); }

std::string percent(double share) { return fixed(100 * share, 0) + "%"; }

std::string megabytes_of(std::size_t done, std::size_t all) {
  constexpr double mega = 1e6;
  return fixed(static_cast<double>(done) / mega, 1) + " of " + fixed(static_cast<double>(all) / mega, 1) + " MB";
}

}  // namespace wasmformer
