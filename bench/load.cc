#include "bench/load.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "bench/contender.h"
#include "bench/percentiles.h"

namespace itemdb::bench {
namespace {

// How long the last operations of a run may take before GiveUp is called.
constexpr nanoseconds kPatience = std::chrono::seconds(20);
constexpr nanoseconds kForever = std::chrono::hours(1);

double Microseconds(nanoseconds time) { return std::chrono::duration<double, std::micro>(time).count(); }

}  // namespace

nanoseconds MachineCpu() {
  std::ifstream in("/proc/stat");
  std::string name;
  int64_t user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft_interrupts = 0,
          stolen = 0;
  in >> name >> user >> nice >> system >> idle >> waiting >> interrupts >> soft_interrupts >> stolen;
  int64_t ticks = user + nice + system + interrupts + soft_interrupts + stolen;
  return std::chrono::nanoseconds(std::chrono::seconds(1)) * ticks / sysconf(_SC_CLK_TCK);
}

nanoseconds OwnCpu() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

Load::Load(const LoadOptions& options)
    : options_(options), accounts_(options.callers), running_(options.callers) {}

std::optional<uint64_t> Load::Next() {
  if (phase_.load(std::memory_order_relaxed) != Phase::kOver) {
    uint64_t operation = next_.fetch_add(1, std::memory_order_relaxed);
    if (operation < options_.operations) return operation;
  }
  storage::MutexLock lock(mutex_);
  --running_;
  changed_.NotifyAll();
  return std::nullopt;
}

void Load::Finish(int caller, Clock::time_point begin, const absl::Status& status) {
  Caller& account = accounts_[caller];
  if (status.ok()) {
    ++account.answered;
    if (phase_.load(std::memory_order_relaxed) != Phase::kMeasured) return;
    uint64_t latency_ns = nanoseconds(Clock::now() - begin).count();
    account.latencies_ns.push_back(static_cast<uint32_t>(std::min<uint64_t>(latency_ns, UINT32_MAX)));
    return;
  }
  phase_ = Phase::kOver;
  storage::MutexLock lock(mutex_);
  if (failure_.ok()) failure_ = status;
}

void Load::WaitFor(nanoseconds time) {
  Clock::time_point end = Clock::now() + time;
  storage::MutexLock lock(mutex_);
  while (running_ > 0 && Clock::now() < end) changed_.WaitFor(mutex_, end - Clock::now());
}

absl::Status Load::End(Contender& contender) {
  phase_ = Phase::kOver;
  WaitFor(kPatience);
  storage::MutexLock lock(mutex_);
  if (running_ > 0) contender.GiveUp();
  while (running_ > 0) changed_.Wait(mutex_);
  return failure_;
}

uint64_t Load::Answered() const {
  uint64_t answered = 0;
  for (const Caller& caller : accounts_) answered += caller.answered;
  return answered;
}

absl::StatusOr<Measured> RunLoad(Contender& contender, const LoadOptions& options) {
  Load load(options);
  contender.Begin(load);
  load.WaitFor(options.warm_up);

  nanoseconds server_cpu = contender.ServerCpu();
  nanoseconds client_cpu = OwnCpu();
  nanoseconds machine_cpu = MachineCpu();
  Clock::time_point begin = Clock::now();
  Load::Phase expected = Load::Phase::kWarmUp;  // An error may have set kOver already.
  load.phase_.compare_exchange_strong(expected, Load::Phase::kMeasured);
  load.WaitFor(options.measured);
  load.phase_ = Load::Phase::kOver;
  nanoseconds elapsed = Clock::now() - begin;
  server_cpu = contender.ServerCpu() - server_cpu;
  client_cpu = OwnCpu() - client_cpu;
  machine_cpu = MachineCpu() - machine_cpu;

  ITEMDB_RETURN_IF_ERROR(load.End(contender));

  Measured measured;
  measured.answered = load.Answered();
  std::vector<double> latencies_us;
  for (const Load::Caller& caller : load.accounts_) {
    for (uint32_t latency_ns : caller.latencies_ns) latencies_us.push_back(latency_ns / 1e3);
  }
  const Percentiles latencies = PercentilesOf(std::move(latencies_us));
  if (latencies.count == 0) {
    return absl::DeadlineExceededError("no operation was answered in the measured time; give more --seconds");
  }
  double operations = static_cast<double>(latencies.count);
  measured.operations_per_second = operations / std::chrono::duration<double>(elapsed).count();
  measured.p50_us = latencies.p50;
  measured.p99_us = latencies.p99;
  measured.server_cpu_us = Microseconds(server_cpu) / operations;
  nanoseconds ours = contender.InProcess() ? server_cpu : server_cpu + client_cpu;
  measured.others_cores = std::max(0.0, std::chrono::duration<double>(machine_cpu - ours) / elapsed);
  if (!contender.InProcess()) measured.client_cpu_us = Microseconds(client_cpu) / operations;
  return measured;
}

absl::StatusOr<uint64_t> RunAll(Contender& contender, int callers, uint64_t operations) {
  LoadOptions options;
  options.callers = callers;
  options.operations = operations;
  Load load(options);
  contender.Begin(load);
  load.WaitFor(kForever);
  ITEMDB_RETURN_IF_ERROR(load.End(contender));
  return load.Answered();
}

}  // namespace itemdb::bench
