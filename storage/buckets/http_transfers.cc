#include "storage/buckets/http_transfers.h"

#include <curl/curl.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <memory>

#include "storage/base/check.h"

namespace itemdb::storage {
namespace {

constexpr long kConnectTimeoutSeconds = 10;

void StartLibrary() {
  // Of the whole process, for good.
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  ITEMDB_CHECK(started == CURLE_OK);
}

// What the callbacks of a transfer use.
struct Transfer {
  const HttpCall& call;
  HttpReply& reply;
  const Cancellation& cancellation;
  size_t sent = 0;
  bool is_too_long = false;
};

// The whole length, so that a body does not take twice its size while it grows.
void ReserveBody(Transfer& transfer) {
  const std::string length = transfer.reply.HeaderOf("content-length");
  size_t bytes = 0;
  (void)std::from_chars(length.data(), length.data() + length.size(), bytes);
  transfer.reply.body.reserve(std::min(bytes, transfer.call.max_reply_bytes));
}

size_t OnBody(char* bytes, size_t one, size_t count, void* data) {
  auto& transfer = *static_cast<Transfer*>(data);
  const size_t size = one * count;
  if (transfer.reply.body.size() + size > transfer.call.max_reply_bytes) {
    transfer.is_too_long = true;
    return 0;
  }
  if (transfer.reply.body.empty()) ReserveBody(transfer);
  transfer.reply.body.append(bytes, size);
  return size;
}

std::string_view WithoutSpaces(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

size_t OnHeader(char* bytes, size_t one, size_t count, void* data) {
  auto& transfer = *static_cast<Transfer*>(data);
  const std::string_view line(bytes, one * count);
  // A head after an interim one, such as "100 Continue".
  if (line.starts_with("HTTP/")) transfer.reply.headers.clear();
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return line.size();
  std::string name(line.substr(0, colon));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  transfer.reply.headers[name] = WithoutSpaces(line.substr(colon + 1));
  return line.size();
}

size_t OnSend(char* out, size_t one, size_t count, void* data) {
  auto& transfer = *static_cast<Transfer*>(data);
  const size_t size = transfer.call.body.substr(transfer.sent).copy(out, one * count);
  transfer.sent += size;
  return size;
}

// libcurl sends the body again, from `offset` on, when a kept connection turns out to be closed.
int OnSeek(void* data, curl_off_t offset, int origin) {
  if (origin != SEEK_SET) return CURL_SEEKFUNC_CANTSEEK;
  static_cast<Transfer*>(data)->sent = static_cast<size_t>(offset);
  return CURL_SEEKFUNC_OK;
}

int OnProgress(void* data, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<Transfer*>(data)->cancellation.Check().ok() ? 0 : 1;
}

absl::Status TransferError(CURLcode code, const std::string& url, const char* detail) {
  const std::string why = *detail != '\0' ? detail : curl_easy_strerror(code);
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR:
      return absl::FailedPreconditionError("the certificate of " + url + " is not trusted: " + why);
    case CURLE_SSL_CACERT_BADFILE:
      return absl::FailedPreconditionError("the certificates of authorities cannot be used: " + why);
    case CURLE_SSL_CONNECT_ERROR:
      return absl::UnavailableError("there is no TLS connection to " + url + ": " + why);
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
      return absl::UnavailableError(url + " cannot be reached: " + why);
    default:
      return absl::UnavailableError("the connection to " + url + " failed: " + why);
  }
}

}  // namespace

std::string HttpReply::HeaderOf(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

HttpTransfers::HttpTransfers(Settings settings, const Cancellation& cancellation)
    : settings_(std::move(settings)), cancellation_(cancellation) {
  StartLibrary();
}

HttpTransfers::~HttpTransfers() {
  MutexLock lock(mutex_);
  for (void* handle : handles_) curl_easy_cleanup(handle);
}

absl::Status HttpTransfers::Perform(const HttpCall& call, HttpReply* reply) {
  ITEMDB_RETURN_IF_ERROR(cancellation_.Check());
  CURL* handle = nullptr;
  {
    MutexLock lock(mutex_);
    if (!handles_.empty()) {
      handle = handles_.back();
      handles_.pop_back();
    }
  }
  if (handle == nullptr) handle = curl_easy_init();
  if (handle == nullptr) return absl::UnavailableError("there is no memory for a connection");
  // Keeps the connections.
  curl_easy_reset(handle);

  *reply = {};
  Transfer transfer{.call = call, .reply = *reply, .cancellation = cancellation_};
  char detail[CURL_ERROR_SIZE] = "";
  std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(nullptr, &curl_slist_free_all);
  for (const auto& [name, value] : call.headers) {
    // "NAME;" sends a header without value.
    const std::string line = value.empty() ? name + ";" : name + ": " + value;
    curl_slist* const longer = curl_slist_append(headers.get(), line.c_str());
    ITEMDB_CHECK(longer != nullptr);
    (void)headers.release();
    headers.reset(longer);
  }
  curl_easy_setopt(handle, CURLOPT_URL, call.url.c_str());
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  curl_easy_setopt(handle, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, call.method.c_str());
  curl_easy_setopt(handle, CURLOPT_USERAGENT, "itemd");
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, detail);
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, kConnectTimeoutSeconds);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, static_cast<long>(settings_.stall_timeout.count()));
  curl_easy_setopt(handle, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(handle, CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
  if (!settings_.ca_file.empty()) curl_easy_setopt(handle, CURLOPT_CAINFO, settings_.ca_file.c_str());
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &OnBody);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, &OnHeader);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, &OnProgress);
  curl_easy_setopt(handle, CURLOPT_XFERINFODATA, &transfer);
  if (call.method == "HEAD") curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
  if (call.method == "PUT" || call.method == "POST") {
    curl_easy_setopt(handle, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(handle, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
    curl_easy_setopt(handle, CURLOPT_READFUNCTION, &OnSend);
    curl_easy_setopt(handle, CURLOPT_READDATA, &transfer);
    curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, &OnSeek);
    curl_easy_setopt(handle, CURLOPT_SEEKDATA, &transfer);
  }
  const CURLcode code = curl_easy_perform(handle);
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  reply->status = static_cast<int>(status);
  {
    MutexLock lock(mutex_);
    handles_.push_back(handle);
  }
  if (code == CURLE_OK) return absl::OkStatus();
  ITEMDB_RETURN_IF_ERROR(cancellation_.Check());
  if (transfer.is_too_long)
    return absl::ResourceExhaustedError("the reply is longer than " + std::to_string(call.max_reply_bytes) +
                                        " bytes");
  return TransferError(code, call.url.substr(0, call.url.find('/', sizeof("https://"))), detail);
}

}  // namespace itemdb::storage
