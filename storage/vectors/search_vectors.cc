#include "storage/vectors/search_vectors.h"

#include <algorithm>
#include <thread>

#include "storage/base/limits.h"
#include "storage/catalog/capacity.h"
#include "storage/indexes/index_entry.h"
#include "storage/store/keyspace.h"
#include "storage/values/float_vector.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {
namespace {

// Searches that may wait for a thread.
constexpr size_t kMaxWaitingSearches = 1'000;

absl::Status StoppedError() {
  return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, "the database is shutting down");
}

// The record of an entry, which must be there.
absl::StatusOr<rocksdb::PinnableSlice> ReadEntryRecord(const PreparedSearch& search, std::string_view key) {
  rocksdb::ReadOptions options;
  options.snapshot = search.view->snapshot();
  rocksdb::PinnableSlice record;
  const Store& store = *search.view->store();
  const rocksdb::Status read = GetRecord(store, EntriesOf(store, *search.index), options, key, &record);
  if (read.IsNotFound()) {
    return DataLossError("an item of table " + search.table->name + " has no entry in index " +
                         search.index->name + "; 'itemctl check --repair' makes it");
  }
  if (!read.ok()) return search.view->store()->ReadError("cannot read " + search.Owner(), read);
  return record;
}

// What an entry shows: the vector as numbers if the projection names it, else no vector (VEC-16).
void AppendShownEntry(const PreparedSearch& search, bool shows_vector, ItemView entry, std::string* item) {
  for (const AttributeView& attribute : entry) {
    if (attribute.name != search.index->vector->attribute) {
      AppendAttribute(attribute.name, attribute.value.encoded(), item);
    } else if (shows_vector) {
      AppendAttribute(attribute.name, EncodeVector(attribute.value.payload()), item);
    }
  }
}

// Sets `*misfit` to the key of a hit that does not fit the filters, if there is one, and returns no reply
// then: in memory values of filters are compared by their hashes.
absl::StatusOr<wire::SearchVectorsReply> MakeReply(const PreparedSearch& search,
                                                   const std::vector<VectorHit>& hits,
                                                   std::optional<std::string>* misfit) {
  const bool shows_vector =
      search.projection.has_value() &&
      std::binary_search(search.projection->TopLevelAttributes().begin(),
                         search.projection->TopLevelAttributes().end(), search.index->vector->attribute);
  const bool is_negated = search.index->vector->distance == v1::VECTOR_DISTANCE_FUNCTION_DOT_PRODUCT;
  wire::SearchVectorsReply reply;
  reply.set_change_sequence(search.view->change_sequence());
  size_t reply_bytes = 0;
  size_t entry_bytes = 0;
  for (const VectorHit& hit : hits) {
    const std::string key = search.partition + hit.base_key;
    ITEMDB_ASSIGN_OR_RETURN(const rocksdb::PinnableSlice record, ReadEntryRecord(search, key));
    const std::optional<StoredRecord> stored = DecodeRecord(search.index->storage_id, key, ToView(record));
    if (!stored.has_value()) return DamagedRecordError(search.Owner(), key);
    if (!FitsFilters(search, ItemView(stored->payload))) {
      *misfit = hit.base_key;
      return reply;
    }
    entry_bytes += stored->item_size;
    wire::SearchResult* result = reply.add_search_results();
    std::string shown;
    AppendShownEntry(search, shows_vector, ItemView(stored->payload), &shown);
    if (search.projection.has_value()) {
      search.projection->Apply(ItemView(shown), result->mutable_item());
    } else {
      result->set_item(std::move(shown));
    }
    result->set_score((is_negated ? -hit.rank : hit.rank) + 0.0F);  // No -0.
    reply_bytes += result->item().size();
    if (reply_bytes > kMaxSearchReplyBytes) {
      return ValidationError("VEC-02", "The search results are larger than " +
                                           std::to_string(kMaxSearchReplyBytes >> 20) +
                                           " MB; ask for fewer with TopK, or for fewer attributes with "
                                           "ProjectionExpression");
    }
  }
  if (search.wants_capacity) {
    reply.mutable_consumed_capacity()->set_vector_search_request_bytes(
        static_cast<int64_t>(VectorBytes(entry_bytes)));
  }
  return reply;
}

}  // namespace

// A search on its way.
struct VectorSearches::Running {
  PreparedSearch search;
  Done<wire::SearchVectorsReply> done;
  CancellationPtr cancellation;
  std::vector<std::string> misfits;

  void Finish(absl::StatusOr<wire::SearchVectorsReply> reply) {
    const int64_t results = reply.ok() ? reply->search_results_size() : 0;
    search.call.Record(reply.ok(), results, results);
    search.view.reset();
    std::move(done)(std::move(reply));
  }
};

void VectorSearches::Stop() {
  // Searches that wait for a copy are answered.
  copies_.Stop();
  std::unique_ptr<IoPool> threads;
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    threads = std::move(threads_);
  }
  if (threads != nullptr) threads->Stop();
}

IoPool* VectorSearches::Threads() {
  MutexLock lock(mutex_);
  if (stopped_) return nullptr;
  if (threads_ == nullptr) {
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    threads_ = std::make_unique<IoPool>(cores, kMaxWaitingSearches);
  }
  return threads_.get();
}

void VectorSearches::SearchVectors(const wire::SearchVectorsRequest& request,
                                   Done<wire::SearchVectorsReply> done, CancellationPtr cancellation) {
  auto view = engine_.View();
  if (!view.ok()) return std::move(done)(view.status());
  auto prepared = PrepareSearch(*std::move(view), request);
  if (!prepared.ok()) return std::move(done)(prepared.status());
  Submit(std::make_shared<Running>(
      Running{*std::move(prepared), std::move(done), std::move(cancellation), /*misfits=*/{}}));
}

void VectorSearches::Submit(const std::shared_ptr<Running>& running) {
  IoPool::Task task = [this, running] { Run(running); };
  IoPool* threads = Threads();
  if (threads == nullptr) return running->Finish(StoppedError());
  if (!threads->Submit(task, IoPriority::kLong)) running->Finish(IoPoolFullError());
}

void VectorSearches::Run(const std::shared_ptr<Running>& running) {
  const VectorCopies::Resume resume = [this, running](absl::Status status) {
    if (!status.ok()) return running->Finish(std::move(status));
    Submit(running);
  };
  for (;;) {
    if (absl::Status going_on = CheckNotCancelled(running->cancellation); !going_on.ok())
      return running->Finish(std::move(going_on));
    auto hits = copies_.Search(&running->search, running->misfits, running->cancellation, resume);
    if (!hits.ok()) return running->Finish(hits.status());
    // `resume` may have been called.
    if (!hits->has_value()) return;
    std::optional<std::string> misfit;
    auto reply = MakeReply(running->search, **hits, &misfit);
    if (!misfit.has_value()) return running->Finish(std::move(reply));
    running->misfits.push_back(*std::move(misfit));
  }
}

}  // namespace itemdb::storage
