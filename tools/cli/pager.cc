#include "tools/cli/pager.h"

#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "tools/base/text_width.h"

namespace itemdb::tools {
namespace {

// Larger than the buffer of a pipe by default (pipe(7)).
constexpr size_t kPipeBytes = 1 << 20;
// Exit codes of the shell for a command that it cannot run.
constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;

}  // namespace

std::string PagerCommand() {
  for (const char* name : {"ITEMDB_PAGER", "PAGER"}) {
    const char* value = std::getenv(name);
    if (value != nullptr) return std::string_view(value) == "cat" ? "" : value;
  }
  return "less";
}

Pager::Pager(std::ostream& out, TerminalSize size, std::string command)
    : out_(out), size_(size), command_(std::move(command)) {}

Pager::int_type Pager::overflow(int_type c) {
  if (c == traits_type::eof()) return traits_type::not_eof(c);
  const char letter = traits_type::to_char_type(c);
  return xsputn(&letter, 1) == 1 ? c : traits_type::eof();
}

std::streamsize Pager::xsputn(const char* text, std::streamsize size) {
  const std::string more(text, static_cast<size_t>(size));
  if (pager_ != nullptr || left_early_ || cannot_run_) return Send(more) ? size : 0;
  kept_ += more;
  CountLines(more);
  // The prompt needs a line too.
  if (lines_ + 1 < size_.rows) return size;
  Start();
  return Send(std::exchange(kept_, "")) ? size : 0;
}

int Pager::sync() { return left_early_ ? -1 : 0; }

void Pager::CountLines(std::string_view text) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    columns_ += TextWidth(text.substr(0, end));
    if (end == std::string_view::npos) return;
    lines_ += 1 + (size_.columns > 0 && columns_ > 0 ? (columns_ - 1) / size_.columns : 0);
    columns_ = 0;
    text.remove_prefix(end + 1);
  }
}

void Pager::Start() {
  out_.flush();
  // F: nothing to page, leave at once; R: keep colours; X: leave the text on the screen.
  setenv("LESS", "FRX", /*overwrite=*/0);
  handler_before_ = std::signal(SIGPIPE, SIG_IGN);
  pager_ = popen(command_.c_str(), "w");
  cannot_run_ = pager_ == nullptr;
}

bool Pager::Send(const std::string& text) {
  if (left_early_) return false;
  if (cannot_run_) return out_.write(text.data(), static_cast<std::streamsize>(text.size())).good();
  if (sent_.size() <= kPipeBytes) sent_ += text;
  if (std::fwrite(text.data(), 1, text.size(), pager_) == text.size() && std::fflush(pager_) == 0)
    return true;
  End();
  left_early_ = !cannot_run_;
  return cannot_run_;
}

void Pager::End() {
  const int status = pclose(std::exchange(pager_, nullptr));
  std::signal(SIGPIPE, handler_before_);
  cannot_run_ =
      WIFEXITED(status) && (WEXITSTATUS(status) == kNotExecutable || WEXITSTATUS(status) == kNotFound);
  if (cannot_run_) out_ << std::exchange(sent_, "");
}

void Pager::Finish() {
  if (pager_ != nullptr) End();
  out_ << std::exchange(kept_, "") << std::flush;
}

}  // namespace itemdb::tools
