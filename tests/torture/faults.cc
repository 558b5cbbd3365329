#include "tests/torture/faults.h"

namespace itemdb::torture {
namespace {

void Nothing(Session&, Episode&) {}

}  // namespace

const std::vector<FaultKind>& Disturbances() {
  static const auto* const kinds = new std::vector<FaultKind>{
      {"nothing", 3, nullptr, Nothing},
      {"stop_and_continue", 1, nullptr, StopAndContinue},
      {"io_errors", 4, IsRefusedByDisk, IoErrors},
      {"short_writes", 1, nullptr, ShortWrites},
      {"disk_full", 2, IsRefusedByDisk, DiskFull},
      {"table_changes", 2, nullptr, ChangeTables},
      {"index_build", 2, nullptr, BuildIndex},
      {"clock_jump", 1, nullptr, JumpClock},
      {"rude_clients", 1, nullptr, RudeClients},
  };
  return *kinds;
}

const std::vector<FaultKind>& Endings() {
  static const auto* const kinds = new std::vector<FaultKind>{
      {"kill", 4, nullptr, Kill},
      {"power_cut", 5, nullptr, CutPower},
      {"power_cut_any_sectors", 0, nullptr, CutPowerAndTearSectors},
      {"terminate", 1, nullptr, Terminate},
      {"terminate_and_kill", 1, nullptr, TerminateAndKill},
  };
  return *kinds;
}

const std::vector<FaultKind>& Starts() {
  static const auto* const kinds = new std::vector<FaultKind>{
      {"plain", 5, nullptr, StartPlainly},
      {"kill_during_start", 2, nullptr, KillDuringStart},
      {"power_cut_during_start", 2, nullptr, CutPowerDuringStart},
      {"io_errors_during_start", 1, nullptr, IoErrorsDuringStart},
      {"damaged_copies", 2, nullptr, StartOnDamagedCopies},
  };
  return *kinds;
}

}  // namespace itemdb::torture
