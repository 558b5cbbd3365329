// itemd and the echo server as processes.
#pragma once

#include <grpcpp/channel.h>

#include <memory>
#include <string>

#include "bench/child_process.h"

namespace itemdb::bench {

// What a call ended with.
absl::Status ToStatus(const grpc::Status& status);

struct ServerProcess {
  std::unique_ptr<ChildProcess> process;
  // Not connected yet; shares no connection with other channels.
  std::shared_ptr<grpc::Channel> channel;
};

// Starts itemd on `directory`, which may be empty or missing, and returns once it serves. The address file
// and, when `unix_socket` asks for it, the socket are beside the directory.
absl::StatusOr<ServerProcess> StartItemdProcess(const std::string& directory, bool durable, bool unix_socket);
// Likewise the echo server; `directory` only lends its name.
absl::StatusOr<ServerProcess> StartEchoProcess(const std::string& directory, bool unix_socket);

struct HttpServerProcess {
  std::unique_ptr<ChildProcess> process;
  // "127.0.0.1:8001".
  std::string address;
};

// The same two, spoken to over HTTP on a port of 127.0.0.1. The echo answers every request with
// `reply_bytes` bytes.
absl::StatusOr<HttpServerProcess> StartItemdHttpProcess(const std::string& directory, bool durable);
absl::StatusOr<HttpServerProcess> StartHttpEchoProcess(const std::string& directory, size_t reply_bytes);

}  // namespace itemdb::bench
