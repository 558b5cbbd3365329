#include "tools/shell/line_editor.h"

#include <histedit.h>
#include <sys/stat.h>

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace itemdb::tools {
namespace {

constexpr int kHistoryLines = 1'000;
// If there are more candidates, only their number is shown.
constexpr size_t kMaxShown = 200;
constexpr int kShownLineLetters = 80;

// The longest common prefix of `candidates`, which must not be empty.
std::string CommonStart(const std::vector<std::string>& candidates) {
  std::string common = candidates.front();
  for (const std::string& candidate : candidates) {
    size_t same = 0;
    while (same < common.size() && same < candidate.size() && common[same] == candidate[same]) ++same;
    common.resize(same);
  }
  return common;
}

void ShowBelow(const std::vector<std::string>& candidates) {
  std::fputc('\n', stdout);
  if (candidates.size() > kMaxShown) {
    std::fprintf(stdout, "%zu possibilities\n", candidates.size());
    return;
  }
  size_t width = 0;
  for (const std::string& candidate : candidates) width = std::max(width, candidate.size() + 2);
  const size_t columns = std::max<size_t>(1, kShownLineLetters / width);
  for (size_t i = 0; i < candidates.size(); ++i) {
    const bool last = i + 1 == candidates.size() || (i + 1) % columns == 0;
    std::fprintf(stdout, "%-*s%s", last ? 0 : static_cast<int>(width), candidates[i].c_str(),
                 last ? "\n" : "");
  }
}

}  // namespace

std::string DefaultHistoryPath() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state != '\0') {
    return std::string(state) + "/itemctl_history";
  }
  const char* home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? "" : std::string(home) + "/.itemctl_history";
}

class LineEditor::Implementation {
 public:
  Implementation(std::function<Completion(const std::string&)> complete, std::string history_path)
      : complete_(std::move(complete)), history_path_(std::move(history_path)) {
    // Sets only how bytes are decoded to characters.
    std::setlocale(LC_CTYPE, "");
    history_ = history_init();
    HistEvent event;
    history(history_, &event, H_SETSIZE, kHistoryLines);
    history(history_, &event, H_SETUNIQUE, 1);
    if (!history_path_.empty()) history(history_, &event, H_LOAD, history_path_.c_str());
    editor_ = el_init("itemctl", stdin, stdout, stderr);
    el_set(editor_, EL_CLIENTDATA, this);
    el_set(editor_, EL_PROMPT, &Implementation::Prompt);
    el_set(editor_, EL_EDITOR, "emacs");
    el_set(editor_, EL_HIST, history, history_);
    el_set(editor_, EL_SIGNAL, 1);
    // el_wset, because libedit leaks copies of the names given to el_set.
    el_wset(editor_, EL_ADDFN, L"itemctl-complete", L"Complete the word", &Implementation::OnComplete);
    el_set(editor_, EL_BIND, "\t", "itemctl-complete", nullptr);
    // While a line is edited, Ctrl-C is an ordinary key; while a command runs, it sends SIGINT.
    el_set(editor_, EL_SETTY, "-d", "-isig", nullptr);
    el_wset(editor_, EL_ADDFN, L"itemctl-abort", L"Forget the line", &Implementation::OnAbort);
    el_set(editor_, EL_BIND, "^C", "itemctl-abort", nullptr);
    el_set(editor_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    el_source(editor_, nullptr);
  }

  ~Implementation() {
    el_end(editor_);
    history_end(history_);
  }

  End Read(const std::string& prompt, std::string* line) {
    prompt_ = prompt;
    aborted_ = false;
    int letters = 0;
    const char* typed = el_gets(editor_, &letters);
    if (aborted_) {
      el_reset(editor_);
      return End::kAborted;
    }
    if (typed == nullptr || letters <= 0) return End::kEndOfInput;
    line->assign(typed);
    if (line->ends_with('\n')) line->pop_back();
    return End::kLine;
  }

  void Remember(const std::string& line) {
    HistEvent event;
    history(history_, &event, H_ENTER, line.c_str());
    if (history_path_.empty()) return;
    const mode_t before = umask(S_IRWXG | S_IRWXO);
    history(history_, &event, H_SAVE, history_path_.c_str());
    umask(before);
    chmod(history_path_.c_str(), S_IRUSR | S_IWUSR);
  }

 private:
  static Implementation& Of(EditLine* editor) {
    void* data = nullptr;
    el_get(editor, EL_CLIENTDATA, &data);
    return *static_cast<Implementation*>(data);
  }

  static const char* Prompt(EditLine* editor) { return Of(editor).prompt_.c_str(); }

  static unsigned char OnAbort(EditLine* editor, int) {
    Of(editor).aborted_ = true;
    std::fputs("^C\n", stdout);
    return CC_EOF;
  }

  static unsigned char OnComplete(EditLine* editor, int) {
    const LineInfo* info = el_line(editor);
    const std::string line(info->buffer, info->cursor);
    const Completion completion = Of(editor).complete_(line);
    if (completion.candidates.empty()) return CC_REFRESH_BEEP;
    const bool only = completion.candidates.size() == 1;
    std::string more = CommonStart(completion.candidates).substr(completion.partial.size());
    if (only && !completion.candidates.front().ends_with('/')) more += ' ';
    if (!more.empty()) return el_insertstr(editor, more.c_str()) == 0 ? CC_REFRESH : CC_REFRESH_BEEP;
    ShowBelow(completion.candidates);
    return CC_REDISPLAY;
  }

  const std::function<Completion(const std::string&)> complete_;
  const std::string history_path_;
  History* history_ = nullptr;
  EditLine* editor_ = nullptr;
  std::string prompt_;
  bool aborted_ = false;
};

LineEditor::LineEditor(std::function<Completion(const std::string& line)> complete, std::string history_path)
    : implementation_(std::make_unique<Implementation>(std::move(complete), std::move(history_path))) {}

LineEditor::~LineEditor() = default;

LineEditor::End LineEditor::Read(const std::string& prompt, std::string* line) {
  return implementation_->Read(prompt, line);
}

void LineEditor::Remember(const std::string& line) { implementation_->Remember(line); }

}  // namespace itemdb::tools
