#!/usr/bin/env python3
"""Runs the tests of a build folder, as `./dev test` does.

    run_tests.py BUILD [--jobs N] [--all-must-run] [CTEST ARGUMENT...]

A failed test is run again, alone and with the seed that it printed. If it then passes REPEATS times it is FLAKY, which is
reported and does not fail the run. A test that hung or crashed, or that a sanitizer reported, stays FAILED. With
--all-must-run no test may be skipped except those of MAY_BE_SKIPPED; continuous integration uses this option, because
`./dev` has installed everything there. The results are in BUILD/results: tests.xml, summary.txt, and the output of each
failed test.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree

REPEATS = 2
# If more tests fail, they are not run again.
MAX_REPEATED = 20
# Some kernels and containers do not allow mounts.
MAY_BE_SKIPPED = re.compile(r"may not mount a file system here|too little room in /dev/shm here")
SEED = re.compile(r"ITEMDB_TEST_SEED=(\d+)")
SHOWN_LINES = 40
# Large enough that ctest does not cut off a sanitizer's summary at the end.
MAX_OUTPUT_BYTES = 100_000_000
SHOWN_STACK_LINES = 120
RESULT = re.compile(r"^\s*(\d+)/(\d+) Test +#\d+: (\S+) \.*(.*?)\s+([\d.]+) sec$")

SANITIZERS = {
    # UndefinedBehaviorSanitizer only prints by default.
    "UBSAN_OPTIONS": "halt_on_error=1 print_stacktrace=1",
    # Stacks of allocations have five frames instead of thirty: storing thirty takes a tenth of the time.
    "ASAN_OPTIONS": "detect_stack_use_after_return=1 malloc_context_size=5",
    # Packaged libraries are not instrumented for ThreadSanitizer. By default it waits a second at the end of
    # each process for races of other threads.
    "TSAN_OPTIONS": "ignore_noninstrumented_modules=1 halt_on_error=1 atexit_sleep_ms=20",
}


class Test:
    def __init__(self, case):
        self.name = case.get("name")
        self.seconds = float(case.get("time") or 0)
        self.status = case.get("status")
        self.output = (case.findtext("system-out") or "").rstrip()
        # The outcome that ctest printed.
        self.outcome = ""
        skipped = case.find("skipped")
        self.skipped = self.status in ("notrun", "disabled") or skipped is not None
        self.failed = case.find("failure") is not None or self.status == "fail"

    def tell(self, outcome):
        self.outcome = outcome
        # For example because its program does not exist.
        if "Not Run" in outcome and "Disabled" not in outcome:
            self.skipped, self.failed = False, True

    @property
    def certain(self):
        """Why the test counts as failed without another run; None if it may be flaky."""
        if "\nHUNG: " in "\n" + self.output or "Timeout" in self.outcome:
            return "HUNG"
        if "Not Run" in self.outcome:
            return "not run"
        # A report of a sanitizer.
        if found := re.search(r"^SUMMARY: .*", self.output, re.M):
            return found.group(0)
        # ctest's names for signals.
        if found := re.search(r"Exception|SegFault|Subprocess", self.outcome):
            return "crashed: " + self.outcome.strip(" *")
        return None

    @property
    def seed(self):
        found = SEED.search(self.output)
        return found.group(1) if found else None


def run_ctest(build, results, arguments, verbose, **more_environment):
    """Returns all results by name. With `verbose` prints failures, and the progress every 20 seconds."""
    command = ["ctest", "--test-dir", str(build), "--output-junit", str(results), "--test-output-size-failed",
               str(MAX_OUTPUT_BYTES), *arguments]
    environment = {**SANITIZERS, **os.environ, **more_environment}
    outcomes = {}
    began = told = time.monotonic()
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          env=environment) as process:
        for line in process.stdout:
            lines.append(line)
            match = RESULT.match(line.rstrip())
            if not match:
                continue
            number, total, name, outcome, seconds = match.groups()
            outcomes[name] = outcome
            if not verbose:
                continue
            now = time.monotonic()
            if "Passed" not in outcome and "Skipped" not in outcome:
                print(f"{name}: {outcome.strip(' *')} after {seconds} s", flush=True)
            elif now - told > 20 or number == total:
                print(f"[{number}/{total} tests, {now - began:.0f} s]", flush=True)
                told = now
    if not results.exists():
        sys.exit("ctest did not run:\n" + "".join(lines[-20:]))
    cases = xml.etree.ElementTree.parse(results).getroot().iter("testcase")
    tests = {test.name: test for test in map(Test, cases)}
    for name, outcome in outcomes.items():
        if name in tests:
            tests[name].tell(outcome)
    if process.returncode != 0 and not any(test.failed for test in tests.values()):
        sys.exit(f"ctest ended with {process.returncode}, and no test failed:\n" + "".join(lines[-20:]))
    return tests


def excerpt(test):
    """The important part of a failed test's output: stacks of a hanging test, a sanitizer's report, or the failures."""
    lines = test.output.split("\n")
    for start, shown in ((r"^HUNG: ", SHOWN_STACK_LINES), (r"^(==\d+==ERROR|WARNING: ThreadSanitizer|.*runtime error:)", 60),
                         (r".*: Failure$", SHOWN_LINES)):
        for number, line in enumerate(lines):
            if re.match(start, line):
                return "\n".join(line[:200] for line in lines[number:number + shown])
    return "\n".join(line[:200] for line in lines[-SHOWN_LINES:])


def run_alone(build, results, test):
    results.unlink(missing_ok=True)
    arguments = ["-R", "^" + re.escape(test.name) + "$", "-j", "1"]
    seed = {"ITEMDB_TEST_SEED": test.seed} if test.seed else {}
    found = run_ctest(build, results, arguments, verbose=False, **seed)
    return test.name in found and not found[test.name].failed and not found[test.name].skipped


def file_name(name):
    return re.sub(r"[^\w.-]", "_", name) + ".txt"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--jobs", default=str(os.cpu_count()))
    parser.add_argument("--all-must-run", action="store_true")
    options, more = parser.parse_known_args()
    results = options.build.resolve() / "results"
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir(parents=True)
    began = time.monotonic()
    tests = run_ctest(options.build, results / "tests.xml", ["-j", options.jobs, *more], verbose=True)

    failed = [test for test in tests.values() if test.failed]
    skipped = [test.name for test in tests.values() if test.skipped]
    missing = [test.name for test in tests.values() if test.skipped and not MAY_BE_SKIPPED.search(test.output)]
    flaky, broken = [], []
    for test in failed:
        (results / file_name(test.name)).write_text(test.output, encoding="utf-8")
        if test.certain:
            broken.append((test, test.certain))
        elif len(failed) > MAX_REPEATED:
            broken.append((test, "failed"))
        else:
            passed = sum(run_alone(options.build, results / "alone.xml", test) for _ in range(REPEATS))
            if passed == REPEATS:
                flaky.append(test)
            else:
                broken.append((test, f"failed; run again alone it passed {passed} of {REPEATS} times"))

    for test, why in broken:
        print(f"\n---- {test.name}: {why}\n{excerpt(test)}")
    for test in flaky:
        print(f"\n---- {test.name} is flaky: it failed, and passed {REPEATS} of {REPEATS} times when run again alone\n"
              f"{excerpt(test)}")

    wrong = bool(broken) or not tests or (options.all_must_run and bool(missing))
    summary = [f"{len(tests)} tests in {time.monotonic() - began:.0f} s, {len(broken)} failed, {len(flaky)} flaky, "
               f"{len(skipped)} skipped"]
    summary += [f"  FAILED   {test.name}: {why}" for test, why in broken]
    summary += [f"  FLAKY    {test.name}" for test in flaky]
    summary += [f"  skipped  {name}" + (", which must run here" if options.all_must_run and name in missing else "")
                for name in skipped]
    slowest = sorted(tests.values(), key=lambda test: -test.seconds)[:10]
    (results / "slowest.txt").write_text("".join(f"{test.seconds:8.2f} s  {test.name}\n" for test in slowest))
    (results / "summary.txt").write_text("\n".join(summary) + "\n", encoding="utf-8")
    print("\n" + "\n".join(summary))
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)  # `./dev` prints the message.
