#!/usr/bin/env python3
"""Runs the tests of a build folder, as `./dev test` does.

    run_tests.py BUILD [--jobs N] [--all-must-run] [CTEST ARGUMENT...]

What fails is run again, alone: a test that then passes REPEATS times is FLAKY, which is told and passes; one that
hung, or that a sanitizer reported, stays FAILED whatever happens then. With --all-must-run a test whose
set-up `./dev` owes it (npm's packages) must not be skipped, as in continuous integration. The results are in BUILD/results: tests.xml, summary.txt, and the output of
each test that failed.
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
# So many failures are no accident.
MAX_REPEATED = 20
SHOWN_LINES = 40
SHOWN_STACK_LINES = 120
RESULT = re.compile(r"^\s*(\d+)/(\d+) Test +#\d+: (\S+) \.*(.*?)\s+([\d.]+) sec$")

SANITIZERS = {
    # UndefinedBehaviorSanitizer only prints by default.
    "UBSAN_OPTIONS": "halt_on_error=1 print_stacktrace=1",
    # Ten frames tell where memory was allocated; by default each allocation stores thirty.
    "ASAN_OPTIONS": "detect_stack_use_after_return=1 malloc_context_size=10",
    # Packaged libraries are not instrumented for ThreadSanitizer. By default it waits for a second at the end of each
    # process, in case another thread still races.
    "TSAN_OPTIONS": "ignore_noninstrumented_modules=1 halt_on_error=1 atexit_sleep_ms=20",
}


class Test:
    def __init__(self, case):
        self.name = case.get("name")
        self.seconds = float(case.get("time") or 0)
        self.status = case.get("status")
        self.output = (case.findtext("system-out") or "").rstrip()
        skipped = case.find("skipped")
        self.skipped = self.status in ("notrun", "disabled") or skipped is not None
        self.failed = case.find("failure") is not None or self.status == "fail"

    @property
    def hung(self):
        return "\nHUNG: " in "\n" + self.output or "Timeout" in (self.status or "")

    @property
    def reported(self):
        """What a sanitizer said of it."""
        found = re.search(r"^SUMMARY: .*", self.output, re.M)
        return found.group(0) if found else None


def run_ctest(build, results, arguments, verbose):
    """All results by name; prints what fails, and now and then how far it is."""
    command = ["ctest", "--test-dir", str(build), "--output-junit", str(results), *arguments]
    environment = {**SANITIZERS, **os.environ}
    began = told = time.monotonic()
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          env=environment) as process:
        for line in process.stdout:
            lines.append(line)
            match = RESULT.match(line.rstrip())
            if not match or not verbose:
                continue
            number, total, name, outcome, seconds = match.groups()
            now = time.monotonic()
            if "Passed" not in outcome and "Skipped" not in outcome:
                print(f"{name}: {outcome.strip(' *')} after {seconds} s", flush=True)
            elif now - told > 20 or number == total:
                print(f"[{number}/{total} tests, {now - began:.0f} s]", flush=True)
                told = now
    if not results.exists():
        sys.exit("ctest did not run:\n" + "".join(lines[-20:]))
    cases = xml.etree.ElementTree.parse(results).getroot().iter("testcase")
    return {test.name: test for test in map(Test, cases)}


def excerpt(test):
    """Of a failed test's output what tells why: the stacks of a hanging one, a sanitizer's report, the failures."""
    lines = test.output.split("\n")
    for start, shown in ((r"^HUNG: ", SHOWN_STACK_LINES), (r"^(==\d+==ERROR|WARNING: ThreadSanitizer|.*runtime error:)", 60),
                         (r".*: Failure$", SHOWN_LINES)):
        for number, line in enumerate(lines):
            if re.match(start, line):
                return "\n".join(line[:200] for line in lines[number:number + shown])
    return "\n".join(line[:200] for line in lines[-SHOWN_LINES:])


def run_alone(build, results, name):
    arguments = ["-R", "^" + re.escape(name) + "$", "-j", "1"]
    found = run_ctest(build, results, arguments, verbose=False)
    return name in found and not found[name].failed


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
    # What `./dev` should have set up; other tests skip themselves where a machine cannot run them.
    missing = [test.name for test in tests.values() if test.skipped and "skipped:" in test.output]
    flaky, broken = [], []
    for test in failed:
        (results / file_name(test.name)).write_text(test.output, encoding="utf-8")
        if test.hung:
            broken.append((test, "HUNG"))
        elif test.reported:
            broken.append((test, test.reported))
        elif len(failed) > MAX_REPEATED:
            broken.append((test, "failed"))
        else:
            passed = sum(run_alone(options.build, results / "alone.xml", test.name) for _ in range(REPEATS))
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
    sys.exit(main())
