#include "storage/loading/item_writer.h"

#include <utility>

namespace itemdb::storage {
namespace {

constexpr size_t kItemBatchBytes = 256 << 10;
constexpr size_t kMaxWaitingBatches = 4;

}  // namespace

ItemWriter::ItemWriter(Write write) : write_(std::move(write)), thread_([this] { Run(); }) {}

ItemWriter::~ItemWriter() {
  {
    MutexLock lock(mutex_);
    queue_.clear();
    finishing_ = true;
  }
  changed_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

absl::Status ItemWriter::Add(const ItemSource::Item& item) {
  batch_.bytes.append(item.key).append(item.item);
  batch_.entries.push_back(
      {static_cast<uint32_t>(item.key.size()), static_cast<uint32_t>(item.item.size()), item.size});
  return batch_.bytes.size() < kItemBatchBytes ? absl::OkStatus() : Submit();
}

absl::Status ItemWriter::Submit() {
  MutexLock lock(mutex_);
  while (queue_.size() >= kMaxWaitingBatches && status_.ok()) changed_.Wait(mutex_);
  ITEMDB_RETURN_IF_ERROR(status_);
  queue_.push_back(std::exchange(batch_, {}));
  changed_.NotifyAll();
  return absl::OkStatus();
}

absl::Status ItemWriter::Finish() {
  if (!batch_.entries.empty()) ITEMDB_RETURN_IF_ERROR(Submit());
  {
    MutexLock lock(mutex_);
    finishing_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
  MutexLock lock(mutex_);
  return status_;
}

void ItemWriter::Run() {
  for (;;) {
    Batch batch;
    {
      MutexLock lock(mutex_);
      while (queue_.empty() && !finishing_) changed_.Wait(mutex_);
      if (queue_.empty()) return;
      batch = std::move(queue_.front());
      queue_.pop_front();
    }
    changed_.NotifyAll();
    const absl::Status status = WriteBatch(batch);
    if (status.ok()) continue;
    MutexLock lock(mutex_);
    status_ = status;
    changed_.NotifyAll();
    return;
  }
}

absl::Status ItemWriter::WriteBatch(const Batch& batch) {
  std::string_view rest = batch.bytes;
  for (const auto& [key_bytes, item_bytes, size] : batch.entries) {
    ITEMDB_RETURN_IF_ERROR(
        write_({.key = rest.substr(0, key_bytes), .size = size, .item = rest.substr(key_bytes, item_bytes)}));
    rest.remove_prefix(size_t{key_bytes} + item_bytes);
  }
  return absl::OkStatus();
}

}  // namespace itemdb::storage
