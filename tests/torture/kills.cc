// Signals: SIGKILL, SIGTERM, SIGSTOP.
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/torture/faults.h"

namespace itemdb::torture {

void Kill(Session& session, Episode& episode) {
  // A random delay, so that the kill can hit any phase of a commit and not only the time after an answer.
  SleepUs(session.Pick(0, 3'000));
  episode.load.stopping = true;
  session.daemon().Kill();
  session.Count("kill");
}

void Terminate(Session& session, Episode& episode) {
  const bool disk_is_well = session.disk().fault_operations == 0 && session.disk().free_bytes < 0;
  episode.load.stopping = true;
  const int exit_code = session.daemon().Terminate();
  // With a failing disk the stop may fail too, but it comes to an end, and not by a signal.
  EXPECT_TRUE(exit_code == 0 || (!disk_is_well && exit_code > 0 && exit_code < 128))
      << "itemd stopped with " << exit_code << ": " << LastLines(session.daemon().log(), 5);
  session.Count("terminate");
}

void TerminateAndKill(Session& session, Episode& episode) {
  episode.load.stopping = true;
  session.daemon().Signal(SIGTERM);
  SleepUs(session.Pick(0, 60'000));
  session.daemon().Kill();
  session.Count("kill_while_stopping");
}

void StopAndContinue(Session& session, Episode&) {
  const int64_t times = session.Pick(1, 5);
  for (int64_t i = 0; i < times; ++i) {
    session.daemon().Signal(SIGSTOP);
    SleepUs(session.Pick(1'000, 300'000));
    session.daemon().Signal(SIGCONT);
    SleepUs(session.Pick(0, 20'000));
  }
  session.Count("stop_and_continue", times);
}

void StartPlainly(Session& session, Episode&) { session.Start(); }

void KillDuringStart(Session& session, Episode&) {
  const int64_t times = session.Pick(1, 4);
  for (int64_t i = 0; i < times; ++i) {
    session.PrepareStart();
    session.daemon().Launch(session.arguments());
    SleepUs(session.Pick(0, 250'000));
    session.daemon().Kill();
  }
  session.Count("kill_during_start", times);
  session.Start();
}

}  // namespace itemdb::torture
