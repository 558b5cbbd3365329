// MD5 and SHA-256 of an object, while it is written.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "storage/buckets/bucket.h"

namespace itemdb::storage {

// Not thread-safe.
class ObjectDigests {
 public:
  ObjectDigests();
  ~ObjectDigests();
  ObjectDigests(const ObjectDigests&) = delete;
  ObjectDigests& operator=(const ObjectDigests&) = delete;

  void Add(std::string_view bytes);
  // What was added is the whole object `key`. Only once.
  WrittenObject Finish(std::string key);

 private:
  struct Contexts;

  const std::unique_ptr<Contexts> contexts_;
  int64_t bytes_ = 0;
};

}  // namespace itemdb::storage
