#include "client/http/curl_loop.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/time/clock.h"

namespace itemdb {
namespace {

// A refused connection fails at once; this bounds the wait for a machine that does not answer.
constexpr long kConnectTimeoutMs = 10'000;
// A connection that was idle for longer is not used again: NATs and balancers drop such connections silently.
constexpr long kMaxIdleSeconds = 60;
constexpr int kMaxPollMs = 60'000;
// The longest reply, and more than any service sends.
constexpr size_t kMaxReplyBytes = 64 << 20;

void InitializeCurl() {
  static const CURLcode initialized = curl_global_init(CURL_GLOBAL_DEFAULT);
  static_cast<void>(initialized);
}

// Whether the other side has sent something on a connection that waits for a request: an answer that came
// twice, which would be taken for that of the next request. `local_port` is the connection's own; another
// connection may have the descriptor by now.
bool HasUnaskedBytes(curl_socket_t connection, int local_port) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof(address);
  if (getsockname(connection, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) return false;
  const in_port_t port = address.ss_family == AF_INET ? reinterpret_cast<sockaddr_in*>(&address)->sin_port
                         : address.ss_family == AF_INET6
                             ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                             : 0;
  pollfd waiting = {.fd = connection, .events = POLLIN, .revents = 0};
  return ntohs(port) == local_port && poll(&waiting, 1, 0) > 0;
}

}  // namespace

// One request from Post to its end. Used by the loop's thread only.
struct CurlTransfer {
  uint64_t number = 0;
  CurlRequest request;
  CurlLoop::Done done;
  CURL* handle = nullptr;
  curl_slist* headers = nullptr;
  curl_slist* connect_to = nullptr;
  size_t sent = 0;
  CurlReply reply;
  char error[CURL_ERROR_SIZE] = {};
  // Connections that answered an earlier request, by local port; null with TLS, whose own messages may wait
  // there.
  const std::map<long, curl_socket_t>* kept_or_null = nullptr;

  ~CurlTransfer() { Reset(); }

  void Reset() {
    if (handle != nullptr) curl_easy_cleanup(handle);
    curl_slist_free_all(headers);
    curl_slist_free_all(connect_to);
    handle = nullptr;
    headers = connect_to = nullptr;
  }

  // Just before the request is sent. A connection that is refused here is closed.
  static int CheckConnection(void* self_pointer, char*, char*, int, int local_port) {
    auto* self = static_cast<CurlTransfer*>(self_pointer);
    if (self->kept_or_null == nullptr) return CURL_PREREQFUNC_OK;
    const auto kept = self->kept_or_null->find(local_port);
    if (kept == self->kept_or_null->end()) return CURL_PREREQFUNC_OK;
    return HasUnaskedBytes(kept->second, local_port) ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
  }

  // Without a function that rewinds, libcurl cannot send a body again by itself when a kept connection turns
  // out to be dead. It must not: a write might be applied twice. The request ends with CURLE_SEND_FAIL_REWIND
  // then.
  static size_t Read(char* out, size_t size, size_t count, void* self_pointer) {
    auto* self = static_cast<CurlTransfer*>(self_pointer);
    const size_t bytes = std::min(size * count, self->request.body.size() - self->sent);
    self->request.body.copy(out, bytes, self->sent);
    self->sent += bytes;
    return bytes;
  }

  static size_t Write(char* bytes, size_t size, size_t count, void* self_pointer) {
    auto* self = static_cast<CurlTransfer*>(self_pointer);
    if (self->reply.body.size() + size * count > kMaxReplyBytes) return 0;
    self->reply.body.append(bytes, size * count);
    return size * count;
  }

  static size_t Header(char* bytes, size_t size, size_t count, void* self_pointer) {
    auto* self = static_cast<CurlTransfer*>(self_pointer);
    constexpr std::string_view kChecksum = "x-amz-crc32:";
    std::string_view line(bytes, size * count);
    if (line.size() > kChecksum.size() && strncasecmp(line.data(), kChecksum.data(), kChecksum.size()) == 0) {
      line.remove_prefix(kChecksum.size());
      for (const char c : line)
        if (c >= '0' && c <= '9') self->reply.checksum.push_back(c);
    }
    return size * count;
  }
};

struct CurlLoop::State {
  explicit State(CurlOptions given) : options(std::move(given)), multi(curl_multi_init()) {}
  ~State() { curl_multi_cleanup(multi); }

  const CurlOptions options;
  CURLM* const multi;

  std::mutex mutex;
  // Guarded by mutex.
  std::vector<std::unique_ptr<CurlTransfer>> posted;
  std::vector<uint64_t> cancelled;
  uint64_t last_number = 0;
  bool stops = false;

  std::thread thread;
  // Used by the thread only.
  std::map<uint64_t, std::unique_ptr<CurlTransfer>> transfers;
  // Wait for a connection, in order.
  std::deque<std::unique_ptr<CurlTransfer>> waiting;
  std::map<long, curl_socket_t> kept_connections;

  void Run() {
    while (true) {
      bool ends = false;
      std::vector<std::unique_ptr<CurlTransfer>> begun;
      std::vector<uint64_t> ended;
      {
        std::lock_guard<std::mutex> lock(mutex);
        begun.swap(posted);
        ended.swap(cancelled);
        ends = stops;
      }
      for (std::unique_ptr<CurlTransfer>& transfer : begun) waiting.push_back(std::move(transfer));
      for (const uint64_t number : ended) CancelNow(number);
      if (ends) {
        while (!waiting.empty()) CancelNow(waiting.front()->number);
        while (!transfers.empty()) CancelNow(transfers.begin()->first);
        return;
      }
      BeginWaiting();
      int running = 0;
      curl_multi_perform(multi, &running);
      int left = 0;
      while (CURLMsg* message = curl_multi_info_read(multi, &left)) {
        if (message->msg == CURLMSG_DONE) Finish(message->easy_handle, message->data.result);
      }
      {
        std::lock_guard<std::mutex> lock(mutex);
        if (!posted.empty() || !cancelled.empty() || stops) continue;
      }
      // A wake-up that comes before the poll ends it at once.
      if (CanBegin()) continue;
      curl_multi_poll(multi, nullptr, 0, MillisecondsToPoll(), nullptr);
    }
  }

  bool CanBegin() const {
    return !waiting.empty() && transfers.size() < static_cast<size_t>(options.max_connections);
  }

  // Until a request that waits for a connection has waited too long.
  int MillisecondsToPoll() const {
    absl::Duration left = absl::Milliseconds(kMaxPollMs);
    const absl::Time now = absl::Now();
    for (const auto& transfer : waiting) left = std::min(left, transfer->request.deadline - now);
    return static_cast<int>(std::clamp<int64_t>(absl::ToInt64Milliseconds(left) + 1, 1, kMaxPollMs));
  }

  void BeginWaiting() {
    while (CanBegin()) {
      std::unique_ptr<CurlTransfer> next = std::move(waiting.front());
      waiting.pop_front();
      Begin(std::move(next));
    }
    const absl::Time now = absl::Now();
    std::vector<std::unique_ptr<CurlTransfer>> late;
    for (auto it = waiting.begin(); it != waiting.end();) {
      const bool is_late = (*it)->request.deadline <= now;
      if (is_late) late.push_back(std::move(*it));
      it = is_late ? waiting.erase(it) : it + 1;
    }
    for (std::unique_ptr<CurlTransfer>& transfer : late) Begin(std::move(transfer));
  }

  void Begin(std::unique_ptr<CurlTransfer> transfer) {
    CurlTransfer* const one = transfer.get();
    const absl::Duration left = one->request.deadline - absl::Now();
    if (left <= absl::ZeroDuration()) {
      one->reply.end = CurlReply::End::kDeadline;
      return std::move(one->done)(std::move(one->reply));
    }
    CURL* const handle = one->handle = curl_easy_init();
    if (options.url.starts_with("http:")) one->kept_or_null = &kept_connections;
    for (const std::string& header : one->request.headers)
      one->headers = curl_slist_append(one->headers, header.c_str());
    // Otherwise libcurl waits for permission to send a longer body.
    one->headers = curl_slist_append(one->headers, "Expect:");
    curl_easy_setopt(handle, CURLOPT_URL, options.url.c_str());
    curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_POST, 1L);
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(one->request.body.size()));
    curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, &CurlTransfer::CheckConnection);
    curl_easy_setopt(handle, CURLOPT_PREREQDATA, one);
    curl_easy_setopt(handle, CURLOPT_READFUNCTION, &CurlTransfer::Read);
    curl_easy_setopt(handle, CURLOPT_READDATA, one);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &CurlTransfer::Write);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, one);
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, &CurlTransfer::Header);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, one);
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, one->headers);
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, one->error);
    curl_easy_setopt(handle, CURLOPT_PRIVATE, one);
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, kConnectTimeoutMs);
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS,
                     static_cast<long>(std::clamp<int64_t>(absl::ToInt64Milliseconds(left), 1, INT32_MAX)));
    curl_easy_setopt(handle, CURLOPT_MAXAGE_CONN, kMaxIdleSeconds);
    curl_easy_setopt(handle, CURLOPT_TCP_KEEPALIVE, 1L);
    // Proxies in the environment are meant for the web, not for a database.
    curl_easy_setopt(handle, CURLOPT_NOPROXY, "*");
    if (!options.ca_file.empty()) curl_easy_setopt(handle, CURLOPT_CAINFO, options.ca_file.c_str());
    if (!options.cert_file.empty()) curl_easy_setopt(handle, CURLOPT_SSLCERT, options.cert_file.c_str());
    if (!options.key_file.empty()) curl_easy_setopt(handle, CURLOPT_SSLKEY, options.key_file.c_str());
    if (!options.connect_to.empty()) {
      one->connect_to = curl_slist_append(nullptr, options.connect_to.c_str());
      curl_easy_setopt(handle, CURLOPT_CONNECT_TO, one->connect_to);
    }
    transfers.emplace(one->number, std::move(transfer));
    curl_multi_add_handle(multi, handle);
  }

  std::unique_ptr<CurlTransfer> Remove(CurlTransfer* transfer) {
    auto node = transfers.extract(transfer->number);
    curl_multi_remove_handle(multi, transfer->handle);
    return std::move(node.mapped());
  }

  // Whether a byte of the body was handed to a connection. The head alone makes nobody do anything.
  static bool MayBeSent(const CurlTransfer& transfer) { return transfer.sent > 0; }

  void CancelNow(uint64_t number) {
    std::unique_ptr<CurlTransfer> transfer;
    const auto waits = std::find_if(waiting.begin(), waiting.end(),
                                    [number](const auto& one) { return one->number == number; });
    if (waits != waiting.end()) {
      transfer = std::move(*waits);
      waiting.erase(waits);
    } else if (const auto found = transfers.find(number); found != transfers.end()) {
      transfer = Remove(found->second.get());
    } else {
      return;
    }
    transfer->reply.end = CurlReply::End::kCancelled;
    transfer->reply.may_be_sent = MayBeSent(*transfer);
    std::move(transfer->done)(std::move(transfer->reply));
  }

  void NoteConnection(CURL* handle) {
    long local_port = 0;
    curl_socket_t connection = CURL_SOCKET_BAD;
    curl_easy_getinfo(handle, CURLINFO_LOCAL_PORT, &local_port);
    curl_easy_getinfo(handle, CURLINFO_ACTIVESOCKET, &connection);
    if (local_port <= 0) return;
    if (connection == CURL_SOCKET_BAD) {
      kept_connections.erase(local_port);
    } else {
      kept_connections[local_port] = connection;
    }
  }

  void Finish(CURL* handle, CURLcode code) {
    CurlTransfer* found = nullptr;
    curl_easy_getinfo(handle, CURLINFO_PRIVATE, &found);
    NoteConnection(handle);
    std::unique_ptr<CurlTransfer> transfer = Remove(found);
    if (code == CURLE_ABORTED_BY_CALLBACK && !MayBeSent(*transfer)) {
      transfer->Reset();
      return Begin(std::move(transfer));
    }
    CurlReply& reply = transfer->reply;
    long http_status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &http_status);
    reply.http_status = static_cast<unsigned>(http_status);
    reply.may_be_sent = MayBeSent(*transfer);
    if (code != CURLE_OK) {
      reply.error = transfer->error[0] != '\0' ? transfer->error : curl_easy_strerror(code);
      const bool is_deadline = code == CURLE_OPERATION_TIMEDOUT &&
                               absl::Now() + absl::Milliseconds(2) >= transfer->request.deadline;
      reply.end = !reply.may_be_sent && !is_deadline ? CurlReply::End::kNeverSent
                  : is_deadline                      ? CurlReply::End::kDeadline
                                                     : CurlReply::End::kLost;
    }
    std::move(transfer->done)(std::move(reply));
  }
};

CurlLoop::CurlLoop(const CurlOptions& options)
    : state_((InitializeCurl(), std::make_shared<State>(options))) {
  curl_multi_setopt(state_->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS,
                    static_cast<long>(options.max_connections));
  curl_multi_setopt(state_->multi, CURLMOPT_MAXCONNECTS, static_cast<long>(options.max_connections));
  // The thread keeps the state: it may be the one that destroys the loop.
  state_->thread = std::thread([state = state_] { state->Run(); });
}

CurlLoop::~CurlLoop() {
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->stops = true;
  }
  curl_multi_wakeup(state_->multi);
  if (state_->thread.get_id() == std::this_thread::get_id()) {
    state_->thread.detach();
  } else {
    state_->thread.join();
  }
}

uint64_t CurlLoop::Post(CurlRequest request, Done done) {
  auto transfer = std::make_unique<CurlTransfer>();
  transfer->request = std::move(request);
  transfer->done = std::move(done);
  uint64_t number = 0;
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    number = transfer->number = ++state_->last_number;
    state_->posted.push_back(std::move(transfer));
  }
  curl_multi_wakeup(state_->multi);
  return number;
}

void CurlLoop::Cancel(uint64_t number) {
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->cancelled.push_back(number);
  }
  curl_multi_wakeup(state_->multi);
}

}  // namespace itemdb
