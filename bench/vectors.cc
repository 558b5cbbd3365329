#include "bench/vectors.h"

#include <hnswlib/hnswlib.h>

#include <time.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "bench/faiss_index.h"
#include "bench/order_store.h"
#include "bench/percentiles.h"
#include "bench/seconds.h"
#include "bench/writers.h"
#include "storage/database.h"
#include "storage/values/value_view.h"

namespace itemdb::bench {
namespace {

using nlohmann::ordered_json;
using Vector = std::vector<float>;

constexpr uint64_t kVectorSeed = 1;
// Vectors in a chunk of a bulk write, and their numbers: some 3 MB.
constexpr int64_t kMaxVectorsInChunk = 1'000;
constexpr int64_t kNumbersInChunk = 200'000;
constexpr int kTop = 10;
// Of a cluster, where the centres have 1 in each dimension.
constexpr float kClusterDeviation = 0.3F;
constexpr char kVectorTable[] = "vectors";
constexpr char kVectorIndex[] = "ByV";
constexpr double kMillisPerSecond = 1e3;
// As those of storage/vectors/vector_graph.cc and vector_copy.cc.
constexpr int kGraphNeighbours = 16;
constexpr int kGraphCandidates = 200;
constexpr int kGraphSearchCandidates = 160;
constexpr double kRecallGoal = 0.98;

// What building took. The CPU time is what a graph needs on a machine with other programs.
struct Building {
  double seconds = 0;
  double cpu_seconds = 0;
};

class BuildClock {
 public:
  Building Stop() const { return {SecondsSince(begin_), CpuSeconds() - cpu_begin_}; }

 private:
  // Of this process, whose other threads wait while something is built.
  static double CpuSeconds() {
    timespec time = {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }

  const Clock::time_point begin_ = Clock::now();
  const double cpu_begin_ = CpuSeconds();
};

std::vector<Vector> Draw(int64_t count, const VectorOptions& options, const std::vector<Vector>& centres,
                         std::mt19937_64& random) {
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<Vector> vectors;
  for (int64_t i = 0; i < count; ++i) {
    Vector vector(static_cast<size_t>(options.dimensions));
    if (centres.empty()) {
      for (float& element : vector) element = uniform(random);
    } else {
      const Vector& centre = centres[random() % centres.size()];
      for (size_t d = 0; d < vector.size(); ++d) vector[d] = centre[d] + kClusterDeviation * normal(random);
    }
    vectors.push_back(std::move(vector));
  }
  return vectors;
}

std::string NumberText(float number) {
  char text[64];
  char* const end = std::to_chars(text, text + sizeof(text), number, std::chars_format::fixed).ptr;
  return std::string(text, end);
}

std::string IdOf(int64_t number) { return std::to_string(number); }

std::string EncodeVectorItem(int64_t number, const Vector& vector) {
  v1::Item item;
  v1::Attribute* id = item.add_attributes();
  id->set_name("id");
  id->mutable_value()->set_s(IdOf(number));
  v1::Attribute* list = item.add_attributes();
  list->set_name("v");
  for (const float element : vector)
    list->mutable_value()->mutable_l()->add_values()->set_n(NumberText(element));
  return item.SerializeAsString();
}

storage::DatabaseOptions OptionsOf(const std::string& directory, size_t graph_min) {
  storage::DatabaseOptions options = OptionsFor(directory, /*durable=*/false);
  options.block_cache_bytes = size_t{1} << 30;
  options.vector_memory_bytes = size_t{8} << 30;
  options.vector_graph_min = graph_min;
  return options;
}

absl::Status LoadVectors(Session& session, storage::Database& database, const VectorOptions& options,
                         const std::vector<Vector>& vectors) {
  v1::CreateTableRequest table;
  table.set_table_name(kVectorTable);
  table.set_billing_mode(v1::BILLING_MODE_PAY_PER_REQUEST);
  v1::AttributeDefinition* attribute = table.add_attribute_definitions();
  attribute->set_attribute_name("id");
  attribute->set_attribute_type(v1::SCALAR_ATTRIBUTE_TYPE_S);
  v1::KeySchemaElement* key = table.add_key_schema();
  key->set_attribute_name("id");
  key->set_key_type(v1::KEY_TYPE_HASH);
  v1::VectorIndex* index = table.add_vector_indexes();
  index->set_index_name(kVectorIndex);
  index->set_vector_attribute("v");
  index->set_dimensions(options.dimensions);
  index->set_distance_function(v1::VECTOR_DISTANCE_FUNCTION_EUCLIDEAN);
  index->mutable_projection()->set_projection_type(v1::PROJECTION_TYPE_KEYS_ONLY);
  ITEMDB_RETURN_IF_ERROR(
      Await<v1::CreateTableReply>([&](auto done) { database.CreateTable(table, std::move(done)); }).status());
  const std::shared_ptr<storage::BulkWrites> writes = database.BeginBulkWrite();
  const int64_t in_chunk = std::clamp<int64_t>(kNumbersInChunk / options.dimensions, 1, kMaxVectorsInChunk);
  for (int64_t begin = 0; begin < options.vectors; begin += in_chunk) {
    ITEMDB_RETURN_IF_ERROR(session.CheckInterrupted());
    wire::BulkWriteChunk chunk;
    chunk.set_chunk_number(static_cast<uint64_t>(begin / in_chunk + 1));
    wire::TableWriteRequests* puts = chunk.add_request_items();
    puts->set_table_name(kVectorTable);
    for (int64_t i = begin; i < std::min(options.vectors, begin + in_chunk); ++i) {
      puts->add_write_requests()->mutable_put_request()->set_item(
          EncodeVectorItem(i, vectors[static_cast<size_t>(i)]));
    }
    ITEMDB_RETURN_IF_ERROR(Await<wire::BulkWriteReply>([&](auto done) {
                             database.BulkWrite(*writes, chunk, std::move(done));
                           }).status());
  }
  return absl::OkStatus();
}

using Found = std::vector<std::string>;

absl::StatusOr<Found> SearchOnce(storage::Database& database, const Vector& query) {
  wire::SearchVectorsRequest request;
  request.set_table_name(kVectorTable);
  request.set_index_name(kVectorIndex);
  request.set_top_k(kTop);
  for (const float element : query)
    request.add_search_vector(storage::EncodeValue(storage::ValueType::kN, NumberText(element)));
  ITEMDB_ASSIGN_OR_RETURN(
      const wire::SearchVectorsReply reply,
      Await<wire::SearchVectorsReply>([&](auto done) { database.SearchVectors(request, std::move(done)); }));
  Found found;
  for (const wire::SearchResult& result : reply.search_results()) {
    v1::Item item;
    item.ParseFromString(result.item());
    found.push_back(item.attributes(0).value().s());
  }
  return found;
}

struct Searches {
  Percentiles latencies_ms;
  std::vector<Found> found;
};

absl::StatusOr<Searches> SearchAll(Session& session, storage::Database& database,
                                   const std::vector<Vector>& queries) {
  Searches searches = {};
  std::vector<double> latencies;
  for (const Vector& query : queries) {
    ITEMDB_RETURN_IF_ERROR(session.CheckInterrupted());
    const Clock::time_point begin = Clock::now();
    ITEMDB_ASSIGN_OR_RETURN(Found found, SearchOnce(database, query));
    latencies.push_back(SecondsSince(begin) * kMillisPerSecond);
    searches.found.push_back(std::move(found));
  }
  searches.latencies_ms = PercentilesOf(std::move(latencies));
  return searches;
}

// The part of `exact` that `found` has too.
double RecallOf(const std::vector<Found>& exact, const std::vector<Found>& found) {
  size_t all = 0;
  size_t both = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    const std::set<std::string> these(found[i].begin(), found[i].end());
    all += exact[i].size();
    for (const std::string& id : exact[i]) both += these.contains(id) ? 1 : 0;
  }
  return all == 0 ? 1 : static_cast<double>(both) / static_cast<double>(all);
}

// Bytes a second that one thread reads and adds up, the best of several times.
double MemoryBytesPerSecond(size_t bytes) {
  std::vector<float> memory(bytes / sizeof(float), 1.0F);
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    const Clock::time_point begin = Clock::now();
    constexpr size_t kSums = 32;
    float sums[kSums] = {};
    for (size_t i = 0; i + kSums <= memory.size(); i += kSums) {
      for (size_t j = 0; j < kSums; ++j) sums[j] += memory[i + j];
    }
    volatile float kept = std::accumulate(sums, sums + kSums, 0.0F);
    (void)kept;
    best = std::max(best, static_cast<double>(bytes) / SecondsSince(begin));
  }
  return best;
}

// A library alone, in one thread, with the same vectors.
struct Beside {
  std::string name;
  Building building = {};
  Searches searches = {};
};

// `nearest(query)`: the numbers of the kTop nearest vectors.
template <typename Nearest>
Searches SearchBeside(const std::vector<Vector>& queries, Nearest nearest) {
  Searches searches = {};
  std::vector<double> latencies;
  for (const Vector& query : queries) {
    const Clock::time_point search = Clock::now();
    const std::vector<int64_t> numbers = nearest(query);
    latencies.push_back(SecondsSince(search) * kMillisPerSecond);
    Found found;
    for (const int64_t number : numbers) found.push_back(IdOf(number));
    searches.found.push_back(std::move(found));
  }
  searches.latencies_ms = PercentilesOf(std::move(latencies));
  return searches;
}

Beside RunHnswlib(const std::vector<Vector>& vectors, const std::vector<Vector>& queries) {
  Beside beside{.name = "hnswlib alone"};
  hnswlib::L2Space space(vectors[0].size());
  hnswlib::HierarchicalNSW<float> graph(&space, vectors.size(), kGraphNeighbours, kGraphCandidates);
  const BuildClock clock;
  for (size_t i = 0; i < vectors.size(); ++i) graph.addPoint(vectors[i].data(), i);
  beside.building = clock.Stop();
  graph.setEf(kGraphSearchCandidates);
  beside.searches = SearchBeside(queries, [&](const Vector& query) {
    std::vector<int64_t> numbers;
    for (auto nearest = graph.searchKnn(query.data(), kTop); !nearest.empty(); nearest.pop())
      numbers.push_back(static_cast<int64_t>(nearest.top().second));
    return numbers;
  });
  return beside;
}

Beside RunFaiss(FaissIndex& index, std::string name, const std::vector<Vector>& vectors,
                const std::vector<Vector>& queries) {
  Beside beside{.name = std::move(name)};
  const BuildClock clock;
  index.Add(vectors);
  beside.building = clock.Stop();
  beside.searches = SearchBeside(queries, [&](const Vector& query) { return index.Nearest(query, kTop); });
  return beside;
}

struct GraphFigures {
  Building building = {};
  double copy_bytes = 0;
  double restart_seconds = 0;
  int64_t restored_entries = 0;
  Searches searches = {};
};

// Whether the database in `directory` has kept a graph.
bool HasKeptGraph(const std::string& directory) {
  std::error_code none;
  const std::filesystem::directory_iterator files(directory + "/vector-graphs", none);
  return !none && std::any_of(begin(files), end(files),
                              [](const auto& file) { return file.path().extension() != ".next"; });
}

absl::StatusOr<GraphFigures> RunGraph(Session& session, const VectorOptions& options,
                                      const std::string& directory, const std::vector<Vector>& queries) {
  GraphFigures graph;
  {
    ITEMDB_ASSIGN_OR_RETURN(auto database, storage::Database::Open(OptionsOf(directory, 1)));
    ITEMDB_RETURN_IF_ERROR(SearchOnce(*database, queries[0]).status());
    session.Progress("building the graph");
    const BuildClock clock;
    constexpr double kBuiltPart = 0.9;  // The last ones are compared one by one.
    while (static_cast<double>(database->MeasureFigures().vectors.graph_entries) <
           kBuiltPart * static_cast<double>(options.vectors)) {
      ITEMDB_RETURN_IF_ERROR(session.CheckInterrupted());
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    graph.building = clock.Stop();
    while (!HasKeptGraph(directory)) {
      ITEMDB_RETURN_IF_ERROR(session.CheckInterrupted());
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ITEMDB_ASSIGN_OR_RETURN(graph.searches, SearchAll(session, *database, queries));
    graph.copy_bytes = static_cast<double>(database->MeasureFigures().vectors.bytes);
  }
  ITEMDB_ASSIGN_OR_RETURN(auto database, storage::Database::Open(OptionsOf(directory, 1)));
  const Clock::time_point begin = Clock::now();
  ITEMDB_RETURN_IF_ERROR(SearchOnce(*database, queries[0]).status());
  graph.restart_seconds = SecondsSince(begin);
  graph.restored_entries = database->MeasureFigures().vectors.restored_graph_entries;
  return graph;
}

std::string MibOf(double bytes) { return Figure(bytes / kKiBPerMiB / kKiBPerMiB); }

}  // namespace

absl::Status RunVectors(Session& session, const VectorOptions& options) {
  std::mt19937_64 random(kVectorSeed);
  std::vector<Vector> centres;
  std::normal_distribution<float> normal;
  for (int i = 0; i < options.clusters; ++i) {
    Vector centre(static_cast<size_t>(options.dimensions));
    for (float& element : centre) element = normal(random);
    centres.push_back(std::move(centre));
  }
  session.Progress("drawing vectors");
  const std::vector<Vector> vectors = Draw(options.vectors, options, centres, random);
  const std::vector<Vector> queries = Draw(options.queries, options, centres, random);

  const std::string directory = options.directory.empty() ? session.scratch.NewPath() : options.directory;
  const bool is_there = !options.directory.empty() && std::filesystem::exists(options.directory);
  double load_seconds = 0;
  double first_seconds = 0;
  Searches exact;
  {
    ITEMDB_ASSIGN_OR_RETURN(
        auto database, storage::Database::Open(OptionsOf(directory, std::numeric_limits<size_t>::max())));
    session.Progress("loading vectors");
    const Clock::time_point begin = Clock::now();
    if (!is_there) ITEMDB_RETURN_IF_ERROR(LoadVectors(session, *database, options, vectors));
    load_seconds = SecondsSince(begin);
    const Clock::time_point first = Clock::now();
    ITEMDB_RETURN_IF_ERROR(SearchOnce(*database, queries[0]).status());
    first_seconds = SecondsSince(first);
    session.Progress("searching exactly");
    ITEMDB_ASSIGN_OR_RETURN(exact, SearchAll(session, *database, queries));
  }
  const size_t vector_bytes =
      static_cast<size_t>(options.vectors) * static_cast<size_t>(options.dimensions) * sizeof(float);
  const double memory_ms =
      static_cast<double>(vector_bytes) / MemoryBytesPerSecond(vector_bytes) * kMillisPerSecond;

  GraphFigures graph;
  std::vector<Beside> beside;
  if (options.graphs) {
    ITEMDB_ASSIGN_OR_RETURN(graph, RunGraph(session, options, directory, queries));
  }
  if (options.beside) {
    session.Progress("faiss alone, exactly");
    if (const auto flat = MakeFaissFlat(options.dimensions); flat != nullptr)
      beside.push_back(RunFaiss(*flat, "faiss IndexFlatL2", vectors, queries));
  }
  if (options.beside && options.graphs) {
    session.Progress("hnswlib alone");
    beside.push_back(RunHnswlib(vectors, queries));
    ITEMDB_RETURN_IF_ERROR(session.CheckInterrupted());
    session.Progress("faiss alone");
    const auto faiss =
        MakeFaissGraph(options.dimensions, kGraphNeighbours, kGraphCandidates, kGraphSearchCandidates);
    if (faiss != nullptr) beside.push_back(RunFaiss(*faiss, "faiss IndexHNSWFlat", vectors, queries));
  }
  const double recall = options.graphs ? RecallOf(exact.found, graph.searches.found) : 1;

  TextTable table;
  table.title =
      "Vectors: " + std::to_string(options.vectors) + " of " + std::to_string(options.dimensions) +
      " dimensions, " +
      (options.clusters == 0 ? std::string("uniform") : std::to_string(options.clusters) + " clusters") +
      ", " + std::to_string(options.queries) + " searches of the nearest ten";
  table.columns = {"searches", "build s", "build CPU s", "p50 ms", "p99 ms", "recall"};
  table.rows = {{"exact", "", "", Figure(exact.latencies_ms.p50), Figure(exact.latencies_ms.p99), "1"}};
  if (options.graphs) {
    table.rows.push_back({"graph", Figure(graph.building.seconds), Figure(graph.building.cpu_seconds),
                          Figure(graph.searches.latencies_ms.p50), Figure(graph.searches.latencies_ms.p99),
                          Figure(recall)});
  }
  ordered_json beside_figures = ordered_json::array();
  for (const Beside& library : beside) {
    const double found = RecallOf(exact.found, library.searches.found);
    table.rows.push_back({library.name, Figure(library.building.seconds),
                          Figure(library.building.cpu_seconds), Figure(library.searches.latencies_ms.p50),
                          Figure(library.searches.latencies_ms.p99), Figure(found)});
    beside_figures.push_back({{"name", library.name},
                              {"build_seconds", library.building.seconds},
                              {"build_cpu_seconds", library.building.cpu_seconds},
                              {"p50_ms", library.searches.latencies_ms.p50},
                              {"p99_ms", library.searches.latencies_ms.p99},
                              {"recall", found}});
  }
  table.notes = {
      "loading took " + Figure(load_seconds) + " s, the first search " + Figure(first_seconds) + " s",
      "reading the vectors' memory once takes " + Figure(memory_ms) + " ms; exact p50 is " +
          Figure(exact.latencies_ms.p50 / memory_ms) + " times that"};
  if (options.graphs) {
    table.notes.push_back("memory of the copy with its graph: " + MibOf(graph.copy_bytes) +
                          " MiB, of the vectors alone " + MibOf(static_cast<double>(vector_bytes)) + " MiB");
    table.notes.push_back("after a restart the first search took " + Figure(graph.restart_seconds) +
                          " s and read the places of " + std::to_string(graph.restored_entries) +
                          " entries in the graph");
    table.notes.push_back("goal: recall at least " + Figure(kRecallGoal));
  }
  session.report.Add(table, {ordered_json{{"figure", "vectors"},
                                          {"vectors", options.vectors},
                                          {"dimensions", options.dimensions},
                                          {"clusters", options.clusters},
                                          {"load_seconds", load_seconds},
                                          {"first_search_seconds", first_seconds},
                                          {"exact_p50_ms", exact.latencies_ms.p50},
                                          {"memory_read_ms", memory_ms},
                                          {"graph_build_seconds", graph.building.seconds},
                                          {"graph_build_cpu_seconds", graph.building.cpu_seconds},
                                          {"graph_p50_ms", graph.searches.latencies_ms.p50},
                                          {"graph_p99_ms", graph.searches.latencies_ms.p99},
                                          {"recall", recall},
                                          {"copy_bytes", graph.copy_bytes},
                                          {"restart_first_search_seconds", graph.restart_seconds},
                                          {"restored_graph_entries", graph.restored_entries},
                                          {"beside", std::move(beside_figures)}}});
  return absl::OkStatus();
}

}  // namespace itemdb::bench
