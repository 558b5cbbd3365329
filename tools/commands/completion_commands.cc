#include "tools/commands/completion_commands.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "absl/strings/str_format.h"
#include "tools/base/exit_codes.h"
#include "tools/base/tokenizer.h"
#include "tools/cli/completion.h"
#include "tools/cli/man_pages.h"
#include "tools/cli/option_validators.h"

namespace itemdb::tools {
namespace {

// Both scripts call `itemctl complete`, so the candidates are those of the installed itemctl and its daemon.
constexpr char kBashScript[] =
    R"(# Completion of itemctl for bash: put `source <(itemctl completion bash)` into ~/.bashrc.
_itemctl() {
  local kind= line
  COMPREPLY=()
  {
    IFS= read -r kind
    while IFS= read -r line; do COMPREPLY+=("$line"); done
  } < <("${COMP_WORDS[0]}" complete --line "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
  if [[ $kind == files ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
  fi
}
complete -F _itemctl itemctl
)";

constexpr char kZshScript[] = R"(#compdef itemctl
# Completion of itemctl for zsh: put `source <(itemctl completion zsh)` behind compinit in ~/.zshrc, or this text as
# _itemctl into a directory of $fpath.
_itemctl() {
  local -a answer described plain
  local line
  answer=("${(@f)$("${(Q)words[1]}" complete --descriptions -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  compset -P '*='
  case ${answer[1]} in
    words)
      for line in "${(@)answer[2,-1]}"; do
        if [[ $line == *$'\t'* ]]; then
          described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
        elif [[ -n $line ]]; then
          plain+=("$line")
        fi
      done
      (( ${#described} )) && _describe itemctl described
      (( ${#plain} )) && compadd -- "${(@)plain}"
      ;;
    files) _files ;;
  esac
}
if [[ ${funcstack[1]} == _itemctl ]]; then _itemctl "$@"; else compdef _itemctl itemctl; fi
)";

struct CompleteOptions {
  std::vector<std::string> words;
  // The command line up to the cursor, with the program's name; given instead of `words`.
  std::string line;
  // Print what each candidate is behind it, after a tab.
  bool descriptions = false;
};

}  // namespace

absl::Status RunCompletion(Context& context, const std::string& shell) {
  context.out() << (shell == "bash" ? kBashScript : kZshScript);
  return absl::OkStatus();
}

absl::Status RunComplete(Context& context, const CommandTable& table, const std::vector<std::string>& words,
                         bool with_descriptions) {
  const GlobalOptions options = ConnectionOf(words, context.options());
  NameSources names = LiveNames(context.session(), options);
  // No attribute names: a shell cannot replace a part of a quoted word.
  names.attributes = nullptr;
  const Completion completion = Complete(table, words, names);
  context.out() << (completion.files ? "files\n" : "words\n");
  for (const std::string& candidate : completion.candidates) {
    context.out() << candidate;
    const auto description = completion.descriptions.find(candidate);
    if (with_descriptions && description != completion.descriptions.end())
      context.out() << '\t' << description->second;
    context.out() << '\n';
  }
  return absl::OkStatus();
}

absl::Status RunMan(Context& context, const CommandTable& table, const ManOptions& options) {
  if (options.directory.empty()) {
    for (const ManPage& page : ManPages(table)) {
      if (page.name != options.page) continue;
      context.out() << page.text;
      return absl::OkStatus();
    }
    return UsageError("there is no manual page " + options.page);
  }
  for (const ManPage& page : ManPages(table)) {
    const std::string path = options.directory + "/" + page.name + ".1";
    errno = 0;
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << page.text;
    file.close();
    if (!file.good()) {
      return UsageError(
          absl::StrFormat("cannot write %s: %s", path, std::strerror(errno == 0 ? EIO : errno)));
    }
  }
  return absl::OkStatus();
}

void RegisterCompletionCommands(CommandTable& table) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = table.Add(
      &table.root(),
      {.name = "completion",
       .summary = "Print the script that completes itemctl's commands in bash or zsh",
       .details =
           "Names of tables and indexes are completed too, when a daemon answers within half a second.",
       .examples = {{"source <(itemctl completion bash)",
                     "for this shell; put the line into ~/.bashrc for all shells"},
                    {"itemctl completion zsh > _itemctl", "for zsh, into a directory of $fpath"}}},
      [shell](Context& context) { return RunCompletion(context, *shell); });
  command->add_option("bash|zsh", *shell, "The shell")->required()->check(OneOfWords({"bash", "zsh"}));

  auto complete = std::make_shared<CompleteOptions>();
  command =
      table.Add(&table.root(),
                {.name = "complete", .summary = "Print what may come next on a command line", .hidden = true},
                [complete, &table](Context& context) {
                  std::vector<std::string> words = complete->words;
                  if (!complete->line.empty()) {
                    Words line = SplitWords(complete->line);
                    words = std::move(line.words);
                    if (!line.at_word) words.emplace_back();
                    words.erase(words.begin());
                  }
                  return RunComplete(context, table, words, complete->descriptions);
                });
  command->add_option("WORD", complete->words, "The words so far, the one to complete last");
  command->add_flag("--descriptions", complete->descriptions, "Print what each candidate is, after a tab");
  command->add_option("--line", complete->line, "The line so far. Default: WORD")->type_name("TEXT");

  auto man = std::make_shared<ManOptions>();
  command =
      table.Add(&table.root(), {.name = "man", .summary = "Print or write the manual pages", .hidden = true},
                [man, &table](Context& context) { return RunMan(context, table, *man); });
  command->add_option("PAGE", man->page, "Default: itemctl");
  command->add_option("--to-directory", man->directory, "Write all pages there. Default: print PAGE")
      ->type_name(std::string(kFileName));
}

}  // namespace itemdb::tools
