// The torture driver: faults on the shipped itemd, real processes and real files, while a model checks every
// answer and every acknowledged write.
//
//   torture [--minutes 10] [--rounds N] [--seed S] [--only KIND,...] [--itemd=ARGUMENT] [--directory DIR]
//
// A round is a database of its own: episodes of load, something that disturbs the daemon, something that
// stops it, and a start, after which the whole database is compared with the model and checked. Prints one
// JSON line a round. A round that fails keeps its directory, and its line says how to repeat it: its seed
// gives the same choices, though not the same timing.
#include <gtest/gtest.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/torture/failures.h"
#include "tests/torture/faults.h"

namespace itemdb::torture {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

struct Arguments {
  double minutes = 10;
  int64_t rounds = 0;
  uint64_t seed = 0;
  std::vector<std::string> only;
  std::vector<std::string> itemd;
  std::string directory;
};

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

const FaultKind& Draw(Session& session, const std::vector<FaultKind>& kinds,
                      const std::vector<std::string>& only) {
  const auto weight = [&](const FaultKind& kind) -> int64_t {
    if (only.empty()) return kind.weight;
    return std::count(only.begin(), only.end(), kind.name) > 0 ? std::max(1, kind.weight) : 0;
  };
  int64_t sum = 0;
  for (const FaultKind& kind : kinds) sum += weight(kind);
  // Of a registry of which no kind was asked for, the first and mildest is taken.
  if (sum == 0) return kinds.front();
  int64_t drawn = session.Pick(1, sum);
  for (const FaultKind& kind : kinds) {
    drawn -= weight(kind);
    if (drawn <= 0) return kind;
  }
  return kinds.front();
}

struct Totals {
  uint64_t operations = 0;
  uint64_t refused = 0;
};

// Returns the names of the three kinds.
Json RunEpisode(Session& session, int number, const Arguments& arguments, Totals& totals) {
  const FaultKind& disturbance = Draw(session, Disturbances(), arguments.only);
  const FaultKind& ending = Draw(session, Endings(), arguments.only);
  const FaultKind& start = Draw(session, Starts(), arguments.only);
  Json names = {disturbance.name, ending.name, start.name};
  Episode episode;
  episode.load.number = number;
  episode.load.endpoint = session.daemon().endpoint();
  episode.load.everything = true;
  episode.load.tolerates = disturbance.explains;
  episode.load.until_stop = static_cast<int>(session.Pick(1, 600));
  {
    e2e::Writers writers(episode.load, session.model(), session.random());
    EXPECT_TRUE(writers.AwaitWrites()) << "no writes in 60 s: " << LastLines(session.daemon().log(), 8);
    disturbance.run(session, episode);
    if (episode.stopped) {
      names[1] = nullptr;
    } else {
      ending.run(session, episode);
    }
  }
  episode.log_bytes = session.daemon().log().size();
  totals.operations += episode.load.calls;
  totals.refused += episode.load.refused;
  start.run(session, episode);
  if (session.daemon().running()) session.Compare(episode);
  return names;
}

// Runs one round; returns whether it passed.
bool RunRound(int64_t number, uint64_t seed, const Arguments& arguments) {
  const Clock::time_point begin = Clock::now();
  const std::string directory = arguments.directory + "/round-" + std::to_string(seed);
  fs::remove_all(directory);
  fs::create_directories(directory);
  Json line = {{"round", number}, {"seed", seed}};
  Json episodes = Json::array();
  Totals totals;
  {
    Session session(directory, seed, arguments.itemd);
    session.Begin();
    const int64_t count = session.Pick(3, 12);
    for (int i = 1; i <= count && !HasFailed(); ++i)
      episodes.push_back(RunEpisode(session, i, arguments, totals));
    if (!HasFailed()) session.AwaitExpiry();
    line["seconds"] = std::round(SecondsSince(begin) * 10) / 10;
    line["durability"] = session.relaxed() ? "relaxed" : "durable";
    line["episodes"] = episodes;
    line["injected"] = session.injected();
    line["operations"] = totals.operations;
    line["acknowledged"] = session.model().acknowledged();
    line["unknown"] = session.model().unknown();
    line["refused"] = totals.refused;
    line["lost_in_relaxed_mode"] = session.model().lost();
    line["changes"] = session.model().changes_compared();
    line["records_checked"] = session.items_checked();
  }
  const bool passed = !HasFailed();
  line["outcome"] = passed ? "passed" : "FAILED";
  if (passed) {
    fs::remove_all(directory);
  } else {
    line["failures"] = TakeFailures();
    line["directory"] = directory;
    line["repeat"] = "./dev torture 0 " + std::to_string(seed);
  }
  std::printf("%s\n", line.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
  return passed;
}

int Run(const Arguments& arguments) {
  const Clock::time_point begin = Clock::now();
  std::mt19937_64 seeds(arguments.seed);
  int64_t failed = 0;
  int64_t round = 1;
  // The first round has the seed that was given.
  for (uint64_t seed = arguments.seed;; seed = seeds()) {
    failed += !RunRound(round, seed, arguments);
    const bool enough =
        arguments.rounds > 0 ? round >= arguments.rounds : SecondsSince(begin) >= arguments.minutes * 60;
    if (enough) break;
    ++round;
  }
  std::printf("%s\n",
              Json({{"rounds", round}, {"failed", failed}, {"seconds", std::round(SecondsSince(begin))}})
                  .dump()
                  .c_str());
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace itemdb::torture

int main(int argc, char** argv) {
  using namespace itemdb::torture;
  Arguments arguments;
  arguments.seed = std::random_device{}();
  const char* temporary = std::getenv("TMPDIR");
  arguments.directory =
      std::string(temporary != nullptr ? temporary : "/tmp") + "/itemdb-torture-" + std::to_string(getpid());
  CLI::App app("Faults on itemd under load, checked against a model");
  app.add_option("--minutes", arguments.minutes, "No round begins later; 0: one round");
  app.add_option("--rounds", arguments.rounds, "This many rounds, instead of --minutes");
  app.add_option("--seed", arguments.seed, "Of the first round, from which those of the others follow");
  app.add_option("--only", arguments.only, "Only these kinds of faults (faults.cc)")->delimiter(',');
  app.add_option("--itemd", arguments.itemd,
                 "One more argument for itemd, of which the model knows nothing; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--directory", arguments.directory, "Databases are made here; those of failed rounds stay");
  CLI11_PARSE(app, argc, argv);
  CollectFailures();
  setvbuf(stdout, nullptr, _IOLBF, 0);
  const int result = Run(arguments);
  std::error_code not_empty;
  std::filesystem::remove(arguments.directory, not_empty);
  return result;
}
