#include "daemon/access/audit_log.h"

#include <fcntl.h>
#include <openssl/sha.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace itemdb::daemon {
namespace {

// How often a record tells of losses.
constexpr std::chrono::seconds kLossInterval(1);
// A longer last line is not a record: no record has more than eight texts, which JSON makes six times as
// long.
constexpr off_t kMaxLineBytes = 32 << 10;
// Every record begins so.
constexpr std::string_view kBegin = "{\"time\":\"";
constexpr std::string_view kHashMember = ",\"hash\":\"";
constexpr size_t kHashDigits = 2 * SHA256_DIGEST_LENGTH;
// The value of `previous` when there is no record before.
const std::string& NoHash() {
  static const std::string* const zeros = new std::string(kHashDigits, '0');
  return *zeros;
}

absl::Status Unusable(const std::string& path, std::string_view reason) {
  return absl::UnavailableError(absl::StrFormat("the audit log %s cannot be used: %s", path, reason));
}

std::string HashOf(std::string_view text) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return absl::BytesToHexString({reinterpret_cast<const char*>(digest), sizeof(digest)});
}

// The hash of a line; nullopt if the line is not a record with the hash that it should have.
std::optional<std::string> HashOfLine(std::string_view line) {
  const size_t end_bytes = kHashMember.size() + kHashDigits + std::string_view("\"}").size();
  if (line.size() <= end_bytes) return std::nullopt;
  const std::string_view body = line.substr(0, line.size() - end_bytes);
  std::string hash = HashOf(body);
  if (line.substr(body.size()) != absl::StrCat(std::string(kHashMember), hash, "\"}")) return std::nullopt;
  return hash;
}

std::string Bounded(std::string_view text) { return std::string(text.substr(0, kMaxAuditTextBytes)); }

void AddText(nlohmann::ordered_json& json, const char* name, const std::string& text) {
  if (!text.empty()) json[name] = Bounded(text);
}

}  // namespace

absl::StatusOr<AuditLog::File> AuditLog::OpenFile(const std::string& path) {
  File file;
  // O_NONBLOCK: opening a named pipe would block otherwise; a regular file ignores it.
  file.fd.Reset(open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600));
  struct stat info = {};
  if (file.fd.get() < 0 || fstat(file.fd.get(), &info) != 0) return Unusable(path, std::strerror(errno));
  if (!S_ISREG(info.st_mode))
    return storage::ValidationError(absl::StrFormat("the audit log %s is not a regular file", path));
  if (flock(file.fd.get(), LOCK_EX | LOCK_NB) != 0) return Unusable(path, "another process writes it");
  const off_t begin = std::max<off_t>(0, info.st_size - kMaxLineBytes);
  std::string tail(static_cast<size_t>(info.st_size - begin), '\0');
  if (pread(file.fd.get(), tail.data(), tail.size(), begin) != static_cast<ssize_t>(tail.size()))
    return Unusable(path, std::strerror(errno));
  const absl::Status foreign =
      storage::ValidationError(absl::StrFormat("%s is not an audit log: its last line is no record", path));
  const size_t end = tail.rfind('\n');
  const size_t whole = end == std::string::npos ? 0 : end + 1;
  const std::string_view rest = std::string_view(tail).substr(whole);
  // The beginning of a record, which a crash has left. Another program's text stays.
  const bool torn = !rest.empty();
  if (torn && (rest.substr(0, kBegin.size()) != kBegin.substr(0, rest.size()) || (begin > 0 && whole == 0)))
    return foreign;
  std::optional<std::string> hash = "";
  if (whole > 0) {
    const size_t before = end == 0 ? std::string::npos : tail.rfind('\n', end - 1);
    const size_t last = before == std::string::npos ? 0 : before + 1;
    hash = HashOfLine(std::string_view(tail).substr(last, end - last));
  }
  if (!hash.has_value()) return foreign;
  if (torn && ftruncate(file.fd.get(), begin + static_cast<off_t>(whole)) != 0)
    return Unusable(path, std::strerror(errno));
  file.last_hash = *hash;
  return file;
}

absl::StatusOr<std::unique_ptr<AuditLog>> AuditLog::Open(const std::string& path, common::Log log) {
  ITEMDB_ASSIGN_OR_RETURN(File file, OpenFile(path));
  return std::unique_ptr<AuditLog>(new AuditLog(path, std::move(file), std::move(log)));
}

AuditLog::AuditLog(std::string path, File file, common::Log log)
    : path_(std::move(path)),
      log_(std::move(log)),
      fd_(std::move(file.fd)),
      last_hash_(file.last_hash.empty() ? NoHash() : file.last_hash) {
  queue_.push_back({.time_us = absl::ToUnixMicros(absl::Now()), .event = "opened"});
  thread_ = std::thread([this] { Run(); });
}

AuditLog::~AuditLog() {
  {
    storage::MutexLock lock(mutex_);
    stopping_ = true;
    wake_.NotifyAll();
  }
  thread_.join();
}

void AuditLog::Add(AuditedCall call) {
  const int64_t now_us = absl::ToUnixMicros(absl::Now());
  const std::string_view event = call.reason.empty() ? "call" : "refused";
  for (std::string* text : {&call.key_id, &call.peer, &call.operation, &call.table, &call.outcome,
                            &call.reason, &call.trace_id}) {
    if (text->size() > kMaxAuditTextBytes) text->resize(kMaxAuditTextBytes);
  }
  storage::MutexLock lock(mutex_);
  if (queue_.size() >= kMaxAuditQueue) {
    ++overflow_;
    lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  queue_.push_back({.time_us = now_us, .event = event, .call = std::move(call)});
  wake_.NotifyAll();
}

void AuditLog::Reopen() {
  storage::MutexLock lock(mutex_);
  reopen_ = true;
  wake_.NotifyAll();
}

void AuditLog::Run() {
  while (true) {
    std::vector<Entry> entries;
    bool reopen = false, stopping = false;
    {
      storage::MutexLock lock(mutex_);
      while (queue_.empty() && !reopen_ && !stopping_ && untold_ == 0) wake_.Wait(mutex_);
      // Losses are told at most once an interval, also when no other record follows.
      if (queue_.empty() && !reopen_ && !stopping_) wake_.WaitFor(mutex_, kLossInterval);
      entries.swap(queue_);
      reopen = std::exchange(reopen_, false);
      stopping = stopping_;
      untold_ += std::exchange(overflow_, 0);
    }
    for (const Entry& entry : entries) Write(entry);
    WriteLosses(stopping);
    if (reopen) ReopenNow();
    if (stopping) {
      Write({.time_us = absl::ToUnixMicros(absl::Now()), .event = "closed"});
      fdatasync(fd_.get());
      return;
    }
    fdatasync(fd_.get());
  }
}

void AuditLog::ReopenNow() {
  fdatasync(fd_.get());
  struct stat open_now = {}, at_path = {};
  const bool same = fstat(fd_.get(), &open_now) == 0 && stat(path_.c_str(), &at_path) == 0 &&
                    open_now.st_dev == at_path.st_dev && open_now.st_ino == at_path.st_ino;
  if (!same) {
    absl::StatusOr<File> file = OpenFile(path_);
    if (!file.ok()) {
      log_->error("audit log not reopened, the old file is used on reason={}",
                  storage::MessageOf(file.status()));
      return;
    }
    fd_ = std::move(file->fd);
  }
  // The first record of the new file: its `previous` is the last hash of the old one.
  Write({.time_us = absl::ToUnixMicros(absl::Now()), .event = "reopened"});
  log_->info("audit log reopened audit_log={}", path_);
}

void AuditLog::WriteLosses(bool at_once) {
  const auto now = std::chrono::steady_clock::now();
  if (untold_ == 0 || (!at_once && now - losses_told_ < kLossInterval)) return;
  losses_told_ = now;
  const int64_t count = std::exchange(untold_, 0);
  Write({.time_us = absl::ToUnixMicros(absl::Now()), .event = "lost", .call = {}, .count = count});
  if (untold_ == 0) log_->error("audit records lost count={} audit_log={}", count, path_);
}

void AuditLog::Write(const Entry& entry) {
  nlohmann::ordered_json json;
  json["time"] =
      absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", absl::FromUnixMicros(entry.time_us), absl::UTCTimeZone());
  json["event"] = std::string(entry.event);
  AddText(json, "key_id", entry.call.key_id);
  AddText(json, "peer", entry.call.peer);
  AddText(json, "operation", entry.call.operation);
  AddText(json, "table", entry.call.table);
  AddText(json, "outcome", entry.call.outcome);
  AddText(json, "reason", entry.call.reason);
  AddText(json, "trace_id", entry.call.trace_id);
  if (entry.count > 0) json["count"] = entry.count;
  json["previous"] = last_hash_;
  // Texts of clients need not be UTF-8. Only ASCII is written, so that no line controls a terminal.
  std::string body = json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
  body.pop_back();
  std::string hash = HashOf(body);
  if (WriteLine(absl::StrCat(body, std::string(kHashMember), hash, "\"}\n"))) {
    last_hash_ = std::move(hash);
    written_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  // The loss of a record that only tells of losses is told by the next one.
  untold_ += std::max<int64_t>(entry.count, 1);
  if (entry.count == 0) lost_.fetch_add(1, std::memory_order_relaxed);
}

bool AuditLog::WriteLine(const std::string& line) {
  struct stat before = {};
  fstat(fd_.get(), &before);
  const ssize_t bytes = write(fd_.get(), line.data(), line.size());
  if (bytes == static_cast<ssize_t>(line.size())) {
    failing_ = false;
    return true;
  }
  const int error = bytes < 0 ? errno : ENOSPC;
  // Half a line would be the end of the chain.
  if (bytes > 0 && ftruncate(fd_.get(), before.st_size) != 0) log_->error("audit log keeps half a record");
  if (!std::exchange(failing_, true)) {
    log_->error("audit records cannot be written audit_log={} reason={}", path_, std::strerror(error));
  }
  return false;
}

}  // namespace itemdb::daemon
