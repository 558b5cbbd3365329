// A proxy between a client and itemd. It forwards every call unchanged and records its method, so that a test
// sees which calls a program makes.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/processes/raw_client.h"

namespace itemdb::e2e {

// Thread-safe.
class RecordingProxy {
 public:
  // Listens on a port that the kernel chooses, see endpoint().
  explicit RecordingProxy(const std::string& daemon_endpoint);
  ~RecordingProxy();
  RecordingProxy(const RecordingProxy&) = delete;
  RecordingProxy& operator=(const RecordingProxy&) = delete;

  const std::string& endpoint() const { return endpoint_; }

  // Returns the methods called since the last TakeCalls, in order, without their package: "Data/GetItem".
  std::vector<std::string> TakeCalls();

 private:
  class Service;

  void Record(const std::string& method);

  RawClient daemon_;
  std::mutex mutex_;
  std::vector<std::string> calls_;  // Guarded by mutex_.
  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
  std::string endpoint_;
};

}  // namespace itemdb::e2e
