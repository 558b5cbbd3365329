// The Streams API: the change log seen as one stream of one shard for each time that a table's stream was
// enabled.
//
// Sequence numbers are change sequences as decimal text of one length, so that they are in order as numbers
// and as text. The shard begins with the change that enabled the stream and ends with the one that disabled
// it, or that deleted the table; neither is a record of it.
#pragma once

#include "storage/engine/engine.h"

namespace itemdb {

// Behind Database's methods of the same names.
absl::StatusOr<ListStreamsReply> ListStreams(Engine& engine, const ListStreamsRequest& request);
absl::StatusOr<DescribeStreamReply> DescribeStream(Engine& engine, const DescribeStreamRequest& request);
absl::StatusOr<std::string> GetShardIterator(Engine& engine, const ShardIteratorRequest& request);
void GetRecords(Engine& engine, const GetRecordsRequest& request, Done<GetRecordsReply> done,
                CancellationPtr cancellation);

}  // namespace itemdb
