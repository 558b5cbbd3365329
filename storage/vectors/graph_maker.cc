#include "storage/vectors/graph_maker.h"

#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <utility>

#include "spdlog/spdlog.h"

namespace itemdb::storage {
namespace {

// The file is written again when the graphs have grown by this part.
constexpr size_t kGrowthParts = 16;
// Entries whose hashes are computed while changes of the copy wait.
constexpr size_t kHashedAtOnce = 4'096;

GraphFileIndex IndexOf(const SharedCopy& copy) {
  return {.storage_id = copy.storage_id, .distance = copy.distance, .dimensions = copy.dimensions};
}

}  // namespace

GraphMaker::GraphMaker(Engine& engine, GraphOwner& owner)
    : engine_(engine), owner_(owner), files_(engine.env(), engine.options().data_directory) {}

void GraphMaker::Stop() {
  {
    MutexLock lock(mutex_);
    stopped_ = true;
  }
  thread_.Stop();
}

void GraphMaker::Wake() {
  {
    MutexLock lock(mutex_);
    if (stopped_) return;
    if (!std::exchange(started_, true)) thread_.Start([this] { Run(); });
  }
  thread_.Wake();
}

void GraphMaker::Run() {
  do {
    for (const uint64_t storage_id : owner_.StorageIds()) MakeGraphsOf(storage_id);
  } while (thread_.WaitUntil(BackgroundThread::Clock::time_point::max()));
}

void GraphMaker::MakeGraphsOf(uint64_t storage_id) {
  std::unique_ptr<VectorCopy::GraphStep> unfinished;
  for (;;) {
    // Not kept from step to step: it may have to make room.
    const std::shared_ptr<SharedCopy> copy = owner_.FindCopy(storage_id);
    if (copy == nullptr || !MayGoOn(*copy)) return;
    std::optional<VectorCopy::GraphStep> step;
    {
      std::shared_lock lock(copy->searching);
      step = copy->vectors.NextGraphStep(unfinished.get());
    }
    if (!step.has_value()) return Keep(*copy);
    step->Run([&] { return MayGoOn(*copy); });
    if (!MayGoOn(*copy) || step->has_failed()) return;
    const std::shared_ptr<void> change = owner_.BeginGraphChange(copy);
    if (change == nullptr) return;
    bool is_valid = false;
    {
      std::unique_lock lock(copy->searching);
      is_valid = copy->vectors.FinishGraphStep(*step);
      copy->graph_entries = copy->vectors.graph_size();
    }
    unfinished = is_valid ? std::make_unique<VectorCopy::GraphStep>(*std::move(step)) : nullptr;
  }
}

absl::Status GraphMaker::Restore(SharedCopy& copy, VectorCheck check) {
  if (!copy.vectors.NeedsGraphs()) return absl::OkStatus();
  absl::Status interrupted;
  const auto checked = [&] { return interrupted = check(); };
  const auto restored = files_.Restore(IndexOf(copy), checked, &copy.vectors);
  ITEMDB_RETURN_IF_ERROR(interrupted);
  copy.graph_entries = copy.vectors.graph_size();
  restored_entries_ += static_cast<int64_t>(copy.graph_entries);
  const common::Log& log = engine_.options().log;
  if (restored.ok()) {
    log.info("vector graphs read of={} entries={} replaced={} unused_graphs={} change_sequence={}",
             copy.owner_name, restored->entries, restored->replaced, restored->unused_graphs,
             restored->change_sequence);
    if (restored->unused_graphs == 0) {
      copy.kept_graphs_made = copy.vectors.graphs_made();
      copy.kept_graph_entries = copy.graph_entries;
    }
  } else if (!absl::IsNotFound(restored.status())) {
    log.warn("vector graphs are made anew of={} file={} reason={}", copy.owner_name,
             files_.PathOf(copy.storage_id), MessageOf(restored.status()));
  }
  return absl::OkStatus();
}

void GraphMaker::Keep(SharedCopy& copy) {
  const uint64_t made = copy.vectors.graphs_made();
  const size_t entries = copy.graph_entries;
  if (entries == 0) return;
  const bool is_kept = made == copy.kept_graphs_made &&
                       entries < copy.kept_graph_entries + copy.kept_graph_entries / kGrowthParts + 1;
  if (is_kept) return;
  // A failure is not repeated with each search.
  copy.kept_graphs_made = made;
  copy.kept_graph_entries = entries;
  const absl::StatusOr<uint64_t> bytes = Write(copy);
  const common::Log& log = engine_.options().log;
  if (bytes.ok()) {
    log.info("vector graphs kept of={} entries={} bytes={}", copy.owner_name, entries, *bytes);
  } else if (!absl::IsCancelled(bytes.status())) {
    log.warn("vector graphs are not kept: the next start makes them again of={} reason={}", copy.owner_name,
             MessageOf(bytes.status()));
  }
}

absl::StatusOr<uint64_t> GraphMaker::Write(SharedCopy& copy) {
  ITEMDB_RETURN_IF_ERROR(engine_.disk_space().CheckNow());
  std::vector<VectorCopy::PartitionGraph> graphs;
  {
    std::shared_lock lock(copy.searching);
    graphs = copy.vectors.Graphs();
  }
  ITEMDB_ASSIGN_OR_RETURN(const auto writer, files_.Write(IndexOf(copy), copy.sequence, graphs.size()));
  for (const VectorCopy::PartitionGraph& graph : graphs) {
    // The graph itself is changed by this thread only.
    const size_t entries = graph.graph->size();
    std::vector<uint64_t> hashes;
    hashes.reserve(entries);
    for (size_t begin = 0; begin < entries; begin += kHashedAtOnce) {
      std::shared_lock lock(copy.searching);
      const size_t end = std::min(entries, begin + kHashedAtOnce);
      if (!MayGoOn(copy) || !copy.vectors.AppendEntryHashes(graph, begin, end, &hashes))
        return absl::CancelledError("the copy has changed");
    }
    ITEMDB_RETURN_IF_ERROR(writer->Add(graph, hashes, [&] { return MayGoOn(copy); }));
  }
  return writer->Finish();
}

}  // namespace itemdb::storage
