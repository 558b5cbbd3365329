// Reads the DynamoDB Stream of one table: of DynamoDB, DynamoDB Local, or itemd over HTTP.
//
// A stream has shards, and a shard may have a parent. A shard is read when all of its parent was, so that the
// changes of an item come in their order. An open shard has no end that the protocol tells: GetRecords
// answers with what it finds, also with few or nothing although more follow, and changes show up late. So a
// page with fewer records than were asked for only means that there is no hurry to read the next one: it does
// not tell that all changes were read.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tools/moving/change_feed.h"
#include "tools/moving/move_state.h"
#include "tools/moving/side.h"

namespace itemdb::tools {

// For one thread.
class TableStream {
 public:
  // `side` is borrowed. `place`: how far an earlier run has read; empty: from the oldest record.
  TableStream(const Side& side, std::string table_name, StreamPlace place)
      : side_(side), table_name_(std::move(table_name)), place_(std::move(place)) {}

  // Finds the stream and its shards. FAILED_PRECONDITION: the table has no stream that is on. OUT_OF_RANGE:
  // it is another one than that of the place.
  absl::Status Open();

  // Adds the next changes to `batch`. True: each open shard answered with a page that was not full.
  // OUT_OF_RANGE: records were trimmed before they were read.
  absl::StatusOr<bool> Read(ChangedBatch* batch);

  // How far it was read.
  const StreamPlace& place() const { return place_; }

 private:
  struct Shard {
    std::string id;
    std::string parent;
    // Empty: to be asked for.
    std::string iterator = {};
    // When it was last read.
    absl::Time read_time = absl::InfinitePast();
  };

  absl::Status ReadShards();
  bool IsDone(const std::string& shard_id) const;
  bool IsReady(const Shard& shard) const;
  absl::Status FindIterator(Shard* shard) const;
  absl::StatusOr<JsonValue> ReadPage(Shard* shard) const;
  // Reads a page. True: it was not full.
  absl::StatusOr<bool> ReadShard(Shard* shard, ChangedBatch* batch);
  absl::Status Trimmed(const std::string& shard_id) const;

  const Side& side_;
  const std::string table_name_;
  StreamPlace place_;
  std::vector<Shard> shards_;
  // Of shards_.
  std::set<std::string> ids_;
  bool is_on_ = true;
  absl::Time listed_ = absl::InfinitePast();
};

// Whether the table has a stream that is on.
absl::StatusOr<bool> HasStream(const Side& side, const std::string& table_name);

// Where the streams of the tables of an endpoint are: AWS has a host of its own for them. Else the endpoint.
std::string StreamsEndpointOf(const std::string& endpoint);

}  // namespace itemdb::tools
