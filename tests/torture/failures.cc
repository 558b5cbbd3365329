#include "tests/torture/failures.h"

#include <gtest/gtest.h>

#include <mutex>
#include <utility>

namespace itemdb::torture {
namespace {

constexpr size_t kKeptMessages = 8;

class Collector : public ::testing::EmptyTestEventListener {
 public:
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (messages_.size() == kKeptMessages) return;
    const char* file = result.file_name() == nullptr ? "" : result.file_name();
    messages_.push_back(std::string(file) + ":" + std::to_string(result.line_number()) + ": " +
                        result.message());
  }

  bool failed() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return !messages_.empty();
  }
  std::vector<std::string> Take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(messages_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> messages_;
};

Collector* collector = nullptr;

}  // namespace

void CollectFailures() {
  ::testing::InitGoogleTest();
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  collector = new Collector();
  listeners.Append(collector);
}

bool HasFailed() { return collector->failed(); }

std::vector<std::string> TakeFailures() { return collector->Take(); }

}  // namespace itemdb::torture
