#include "daemon/server/regional_handler.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "daemon/http/api/errors.h"

namespace itemdb::daemon {
namespace {

// Each has threads, files and memory of its own.
constexpr size_t kMaxRegions = 32;
constexpr size_t kMaxRegionBytes = 64;
constexpr std::string_view kMainRegion = "local";

bool IsRegion(std::string_view text) {
  constexpr std::string_view kAllowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return !text.empty() && text.size() <= kMaxRegionBytes &&
         text.find_first_not_of(kAllowed) == std::string_view::npos;
}

// The name of the folder. Key ids have no slash; they may have dots, but not alone in a folder's name.
std::string NameOfRegion(const Caller& caller) {
  return caller.region + (caller.key_id.empty() ? "/all" : "/key-" + caller.key_id);
}

}  // namespace

RegionalHandler::RegionalHandler(std::unique_ptr<http::HttpHandler> main, OpenRegion open,
                                 MakeHandler make_handler)
    : main_(std::move(main)), open_(std::move(open)), make_handler_(std::move(make_handler)) {
  opener_.Start([this] { OpenRegions(); });
}

RegionalHandler::~RegionalHandler() { opener_.Stop(); }

void RegionalHandler::Answer(const http::HttpOperation& operation, std::string body, Caller caller,
                             storage::CancellationPtr cancellation,
                             absl::AnyInvocable<void(http::JsonReply) &&> done) {
  if (caller.region.empty() || caller.region == kMainRegion) {
    return main_->Answer(operation, std::move(body), std::move(caller), std::move(cancellation),
                         std::move(done));
  }
  if (!IsRegion(caller.region)) {
    return std::move(done)(http::ErrorReply(
        400, "UnrecognizedClientException",
        "The region in the credential scope is invalid: it must be 1 to 64 characters of a-z, A-Z, 0-9, '-' "
        "and '_'."));
  }
  const std::string name = NameOfRegion(caller);
  http::HttpHandler* handler = nullptr;
  {
    storage::MutexLock lock(mutex_);
    const auto found = regions_.find(name);
    if (found != regions_.end()) {
      handler = found->second.handler.get();
    } else {
      waiting_.push_back(
          {name, operation, std::move(body), std::move(caller), std::move(cancellation), std::move(done)});
      return opener_.Wake();
    }
  }
  handler->Answer(operation, std::move(body), std::move(caller), std::move(cancellation), std::move(done));
}

void RegionalHandler::OpenRegions() {
  do {
    for (;;) {
      std::deque<Waiting> waiting;
      {
        storage::MutexLock lock(mutex_);
        waiting.swap(waiting_);
      }
      if (waiting.empty()) break;
      for (Waiting& call : waiting) {
        const absl::StatusOr<http::HttpHandler*> handler = HandlerOf(call.name);
        if (!handler.ok()) {
          std::move(call.done)(http::ErrorReply(handler.status()));
          continue;
        }
        (*handler)->Answer(call.operation, std::move(call.body), std::move(call.caller),
                           std::move(call.cancellation), std::move(call.done));
      }
    }
  } while (opener_.WaitUntil(storage::BackgroundThread::Clock::time_point::max()));
}

absl::StatusOr<http::HttpHandler*> RegionalHandler::HandlerOf(const std::string& name) {
  {
    storage::MutexLock lock(mutex_);
    const auto found = regions_.find(name);
    if (found != regions_.end()) return found->second.handler.get();
    if (regions_.size() >= kMaxRegions) {
      return storage::MakeError(
          absl::StatusCode::kResourceExhausted, storage::kReasonLimitExceeded,
          absl::StrFormat("there are %d regions with --regions-apart, and no more are opened", kMaxRegions));
    }
  }
  // Only this thread adds regions.
  ITEMDB_ASSIGN_OR_RETURN(std::unique_ptr<storage::Database> database, open_(name));
  std::unique_ptr<http::HttpHandler> handler = make_handler_(*database);
  http::HttpHandler* const made = handler.get();
  storage::MutexLock lock(mutex_);
  regions_[name] = {.database = std::move(database), .handler = std::move(handler)};
  return made;
}

}  // namespace itemdb::daemon
