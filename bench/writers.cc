#include "bench/writers.h"

#include "bench/seconds.h"

namespace itemdb::bench {
namespace {

// A prime, so that each thread puts every item.
constexpr uint64_t kStride = 7'919;

// An attribute to append to an encoded item. Without it, most puts would change nothing and write nothing.
std::string EncodedVersion(uint64_t version) {
  v1::Item item;
  v1::Attribute* attribute = item.add_attributes();
  attribute->set_name("version");
  attribute->mutable_value()->set_n(std::to_string(version));
  return item.SerializeAsString();
}

}  // namespace

Writers::Writers(storage::Database& database, const std::string& table, int writers, uint64_t items,
                 MakeItem make_item)
    : latencies_ms_(writers) {
  for (int writer = 0; writer < writers; ++writer) {
    threads_.emplace_back([this, &database, table, make_item, items, writer] {
      for (uint64_t i = static_cast<uint64_t>(writer); !stop_; i += kStride) {
        wire::WriteItemRequest put;
        put.set_table_name(table);
        put.set_key_or_item(make_item(i % items) + EncodedVersion(i));
        const Clock::time_point begin = Clock::now();
        auto reply = Await<wire::WriteItemReply>([&](auto done) { database.PutItem(put, std::move(done)); });
        if (!reply.ok()) failed_ = true;
        latencies_ms_[writer].push_back(SecondsSince(begin) * 1e3);
      }
    });
  }
}

void Writers::Stop() {
  stop_ = true;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

Percentiles Writers::latencies_ms() const {
  std::vector<double> all;
  for (const auto& one : latencies_ms_) all.insert(all.end(), one.begin(), one.end());
  return PercentilesOf(std::move(all));
}

}  // namespace itemdb::bench
