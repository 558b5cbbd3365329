// A process that tests kill: `itemctl graduate --yes`, `--back` or `--abort`, which stops itself (SIGSTOP)
// after a given one of its steps.
//
// paused_mover SOURCE TARGET STATE copy|prompt|switch|back|abort STEP [calls]
//
// A step is a call that changes something: from the beginning on, for "switch" from the first fence of the
// source on. With "calls": any call. "prompt" also stops where itemctl asks before the switch. For each it
// writes a line, "STEP SIDE OPERATION TABLE". 0: it stops after none.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <set>
#include <string>

#include "common/status_macros.h"
#include "tools/moving/move.h"

namespace itemdb::tools {
namespace {

// One write call: no line is in a buffer when the process is killed.
void Say(const std::string& line) {
  if (write(STDOUT_FILENO, (line + "\n").data(), line.size() + 1) < 0) _exit(4);
}

class Steps {
 public:
  Steps(bool has_begun, bool counts_reads, int last)
      : has_begun_(has_begun), counts_reads_(counts_reads), last_(last) {}

  std::function<void(const CallRecord&)> Of(const std::string& side) {
    return [this, side](const CallRecord& call) {
      static const std::set<std::string, std::less<>> kChanges = {"UpdateTable", "UpdateTimeToLive",
                                                                  "PutItem", "DeleteItem", "BulkWrite"};
      if (!counts_reads_ && (!kChanges.contains(call.operation) || !call.status.ok())) return;
      if (side == "source" && call.operation == "UpdateTable") has_begun_ = true;
      if (!has_begun_) return;
      const int step = ++steps_;
      Say(std::to_string(step) + " " + side + " " + std::string(call.operation) + " " +
          std::string(call.table_name));
      if (step == last_) raise(SIGSTOP);
    };
  }

 private:
  std::atomic<bool> has_begun_;
  const bool counts_reads_;
  std::atomic<int> steps_{0};
  const int last_;
};

absl::Status Run(const std::string& source_endpoint, const std::string& target_endpoint,
                 const std::string& state_path, const std::string& what, Steps& steps) {
  const bool back = what == "back";
  ITEMDB_ASSIGN_OR_RETURN(Client source,
                          Client::Open({.endpoint = source_endpoint, .on_call = steps.Of("source")}));
  ITEMDB_ASSIGN_OR_RETURN(Client target,
                          Client::Open({.endpoint = target_endpoint, .on_call = steps.Of("target")}));
  Move move(std::move(source), std::move(target), {.state_path = state_path, .back = back, .say = Say});
  if (what == "abort") return move.Abort();
  ITEMDB_RETURN_IF_ERROR(move.Open());
  if (back) return move.GoBack();
  ITEMDB_RETURN_IF_ERROR(move.Copy());
  ITEMDB_RETURN_IF_ERROR(move.StartFollowing());
  ITEMDB_RETURN_IF_ERROR(move.Verify());
  ITEMDB_RETURN_IF_ERROR(move.CompareUntilFew());
  if (what == "prompt") {
    Say("asks");
    raise(SIGSTOP);
  }
  return move.Switch();
}

}  // namespace
}  // namespace itemdb::tools

int main(int argc, char** argv) {
  using namespace itemdb::tools;
  if (argc < 6) return 2;
  const std::string what = argv[4];
  Steps steps(/*has_begun=*/what != "switch", /*counts_reads=*/argc > 6, std::atoi(argv[5]));
  const absl::Status status = Run(argv[1], argv[2], argv[3], what, steps);
  Say(status.ok() ? "ended" : "ended: " + std::string(status.message()));
  return status.ok() ? 0 : 1;
}
