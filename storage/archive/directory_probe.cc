#include "storage/archive/directory_probe.h"

#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rocksdb/file_system.h"
#include "storage/base/mutex.h"

namespace itemdb::storage {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

// Outlives the probe if a thread does not return.
struct DirectoryProbe::State {
  State(std::shared_ptr<rocksdb::FileSystem> system, std::string of)
      : file_system(std::move(system)), directory(std::move(of)) {}

  const std::shared_ptr<rocksdb::FileSystem> file_system;
  const std::string directory;
  Mutex mutex;
  CondVar answered;
  bool is_asking ABSL_GUARDED_BY(mutex) = false;
  Clock::time_point asked_at ABSL_GUARDED_BY(mutex);
};

DirectoryProbe::DirectoryProbe(rocksdb::Env* env, std::string directory)
    : state_(std::make_shared<State>(env->GetFileSystem(), std::move(directory))) {}

absl::Status DirectoryProbe::Check() {
  State& state = *state_;
  MutexLock lock(state.mutex);
  if (!state.is_asking) {
    state.is_asking = true;
    state.asked_at = Clock::now();
    const auto ask = [shared = state_] {
      // Whatever the answer is.
      (void)shared->file_system->FileExists(shared->directory + "/LOCK", rocksdb::IOOptions(), nullptr);
      MutexLock asked(shared->mutex);
      shared->is_asking = false;
      shared->answered.NotifyAll();
    };
    try {
      std::thread(ask).detach();
    } catch (const std::system_error& error) {
      state.is_asking = false;
      return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                       absl::StrCat("no thread can be made to ask whether the file system of ",
                                    state.directory, " answers: ", error.what()));
    }
  }
  while (state.is_asking) {
    const auto waited = Clock::now() - state.asked_at;
    if (waited >= kMaxAnswer) {
      return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                       absl::StrCat("the file system of ", state.directory, " has not answered for ",
                                    std::chrono::duration_cast<std::chrono::seconds>(waited).count(),
                                    " seconds: is its server, or its disk, gone?"));
    }
    state.answered.WaitFor(state.mutex, kMaxAnswer - waited);
  }
  return absl::OkStatus();
}

}  // namespace itemdb::storage
