// The Streams API: the change log seen as one stream of one shard for each time that a table's stream was
// enabled.
//
// Sequence numbers are change sequences as decimal text of one length, so that they are in order as numbers
// and as text. The shard begins with the change that enabled the stream and ends with the one that disabled
// it, or that deleted the table; neither is a record of it.
#pragma once

#include "storage/api/stream_requests.h"
#include "storage/engine/engine.h"

namespace itemdb {

// Behind Database's methods of the same names.
void ListStreams(Engine& engine, const ListStreamsRequest& request, Done<ListStreamsReply> done);
void DescribeStream(Engine& engine, const DescribeStreamRequest& request, Done<DescribeStreamReply> done);
void GetShardIterator(Engine& engine, const ShardIteratorRequest& request, Done<std::string> done);
void GetRecords(Engine& engine, const GetRecordsRequest& request, Done<GetRecordsReply> done,
                CancellationPtr cancellation);

}  // namespace itemdb
