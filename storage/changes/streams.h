// The Streams API: shows the change log as streams. Each time that a table's stream is enabled begins a new
// stream with one shard.
//
// A sequence number is a change sequence as decimal text of fixed length, so text order is number order. A
// shard begins with the change that enabled its stream and ends with the change that disabled it or deleted
// the table. GetRecords returns neither of these two changes.
#pragma once

#include "storage/api/stream_requests.h"
#include "storage/engine/engine.h"

namespace itemdb::storage {

// Implement Database's methods of the same names.
void ListStreams(Engine& engine, const ListStreamsRequest& request, Done<ListStreamsReply> done);
void DescribeStream(Engine& engine, const DescribeStreamRequest& request, Done<DescribeStreamReply> done);
void GetShardIterator(Engine& engine, const ShardIteratorRequest& request, Done<std::string> done);
void GetRecords(Engine& engine, const GetRecordsRequest& request, Done<GetRecordsReply> done,
                CancellationPtr cancellation);

}  // namespace itemdb::storage
