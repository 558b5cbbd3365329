// The kinds of faults, in three registries. An episode draws one of each: something that disturbs the daemon
// under load, something that stops it, and a way in which it is started again.
//
// A new kind is a function in a file of its kin, and a line in faults.cc.
#pragma once

#include <vector>

#include "tests/torture/session.h"

namespace itemdb::torture {

struct FaultKind {
  // As it appears in reports and in --only.
  const char* name;
  // How often it is drawn, compared with the others of its registry. 0: only with --only, because of a
  // weakness that docs/reliability.md lists.
  int weight;
  // Which loads' errors it explains, while it is under way. Null: none.
  bool (*explains)(const absl::Status& status);
  void (*run)(Session& session, Episode& episode);
};

// Run while the load does. On return the daemon must be able to serve again. A disturbance may stop the
// daemon and set `episode.stopped`; then there is no ending.
const std::vector<FaultKind>& Disturbances();
// Set `episode.load.stopping`, and stop the daemon.
const std::vector<FaultKind>& Endings();
// Start the daemon, which serves on return.
const std::vector<FaultKind>& Starts();

// ---- kills.cc ----
void Kill(Session& session, Episode& episode);
void Terminate(Session& session, Episode& episode);
void TerminateAndKill(Session& session, Episode& episode);
void StopAndContinue(Session& session, Episode& episode);
void StartPlainly(Session& session, Episode& episode);
void KillDuringStart(Session& session, Episode& episode);

// ---- disk_faults.cc ----
bool IsRefusedByDisk(const absl::Status& status);
void IoErrors(Session& session, Episode& episode);
void ShortWrites(Session& session, Episode& episode);
void DiskFull(Session& session, Episode& episode);
void CutPower(Session& session, Episode& episode);
void CutPowerAndTearSectors(Session& session, Episode& episode);
void CutPowerDuringStart(Session& session, Episode& episode);
void IoErrorsDuringStart(Session& session, Episode& episode);

// ---- definitions.cc ----
void ChangeTables(Session& session, Episode& episode);
void BuildIndex(Session& session, Episode& episode);

// ---- clock.cc ----
void JumpClock(Session& session, Episode& episode);

// ---- rude_clients.cc ----
void RudeClients(Session& session, Episode& episode);

// ---- damage.cc ----
// Starts itemd on damaged copies of the directory: it must refuse, or answer right, or answer DATA_LOSS.
void StartOnDamagedCopies(Session& session, Episode& episode);

}  // namespace itemdb::torture
