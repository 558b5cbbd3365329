#!/usr/bin/env python3
"""What `./dev check` finds without running anything.

    check.py ROOT BUILD [--stamps DIRECTORY] [--jobs N] [all]

ROOT is the tree, BUILD a build folder of the preset check: compile commands of each file alone, without precompiled
headers and unity builds, so that neither hides a missing include.

  layout       every file is laid out as clang-format does
  headers      every header compiles alone
  clang-tidy   of each source file, clang's thread-safety analysis and warnings included

What was found in order is remembered in DIRECTORY, by the text of the file and of all headers of ours that it
includes, so a file is read again only when one of those has changed. Of files that were not read since, those whose
own text changed are always read, and of the others (a header that they include changed, or nothing is remembered) a
tenth, another one for each commit. With `all` nothing is taken from memory, and clang's static analyzer runs too.
The summary is in BUILD/summary.txt. Ends with 1 when anything was found.
"""

import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)
FOLDERS = ("storage", "daemon", "client", "tools", "bench", "examples", "tests")
TIDIED = ("storage", "daemon", "client", "tools", "bench")
# Where includes that are not spelled from the root are looked for.
INCLUDE_ROOTS = ("", "client/include", "client/testing/include", "examples", "proto")
ROTATION = 10


class Tree:
    """The files of the project, and what they include of each other."""

    def __init__(self, root):
        self.root = root
        listed = subprocess.run(["git", "ls-files", "*.cc", "*.h"], cwd=root, check=True, capture_output=True, text=True)
        self.files = sorted(path for path in listed.stdout.split() if (root / path).exists())
        # Whatever else decides what is found.
        versions = subprocess.run(["clang++", "--version"], check=True, capture_output=True).stdout
        settings = (root / ".clang-tidy").read_bytes() + (root / ".clang-format").read_bytes()
        protos = b"".join(path.read_bytes() for path in sorted((root / "proto").rglob("*.proto")))
        flags = (root / "CMakePresets.json").read_bytes() + (root / "cmake/compiler.cmake").read_bytes()
        self.common = hashlib.sha256(versions + settings + protos + flags).digest()

    def turn(self):
        """Which tenth is read: another one for another tree, the same one for the same."""
        tree = subprocess.run(["git", "rev-parse", "HEAD^{tree}"], cwd=self.root, check=True, capture_output=True)
        return int(tree.stdout[:8], 16) % ROTATION

    @functools.lru_cache(maxsize=None)
    def text(self, path):
        return (self.root / path).read_bytes()

    @functools.lru_cache(maxsize=None)
    def includes(self, path):
        found = []
        for name in INCLUDE.findall(self.text(path).decode("utf-8", "replace")):
            for folder in (*INCLUDE_ROOTS, os.path.dirname(path)):
                candidate = os.path.normpath(os.path.join(folder, name))
                if (self.root / candidate).is_file():
                    found.append(candidate)
                    break
        return found

    def closure(self, path):
        """`path` and all that it includes, of the project."""
        seen, waiting = {path}, [path]
        while waiting:
            for included in self.includes(waiting.pop()):
                if included not in seen:
                    seen.add(included)
                    waiting.append(included)
        return sorted(seen)

    def key(self, purpose, path, alone=False):
        digest = hashlib.sha256(self.common + purpose.encode())
        for each in [path] if alone else self.closure(path):
            digest.update(each.encode() + b"\0" + self.text(each) + b"\0")
        return digest.hexdigest()[:40]


class Stamps:
    """What was found in order. Forgets what was not asked for in 30 days."""

    SECONDS_KEPT = 30 * 24 * 3600

    def __init__(self, directory):
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        now = time.time()
        for stamp in directory.iterdir():
            if now - stamp.stat().st_mtime > self.SECONDS_KEPT:
                stamp.unlink()

    def has(self, key):
        try:
            os.utime(self.directory / key)
            return True
        except FileNotFoundError:
            return False

    def add(self, key):
        (self.directory / key).touch()


def run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          check=False, **options)
    return done.returncode, done.stdout


def each_in_parallel(jobs, function, items):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        yield from zip(items, pool.map(function, items))


def check_layout(tree, jobs):
    size = -(-len(tree.files) // (4 * jobs))
    parts = [tree.files[i:i + size] for i in range(0, len(tree.files), size)]
    findings = []
    for _, (code, output) in each_in_parallel(
            jobs, lambda part: run(["clang-format", "--dry-run", "--Werror", *part], cwd=tree.root), parts):
        if code != 0:
            findings.append(output)
    return len(tree.files), findings


def header_command(build, header):
    includes = [f"-I{build / 'proto'}"]
    for folder in INCLUDE_ROOTS[:-1]:
        includes.append(f"-I{pathlib.Path(folder) if folder else '.'}")
    return ["clang++", "-std=c++20", "-fsyntax-only", "-x", "c++", "-Wall", "-Wno-pragma-once-outside-header", "-Werror",
            "-DSPDLOG_COMPILED_LIB", "-DSPDLOG_FMT_EXTERNAL", "-DFMT_SHARED", "-DSPDLOG_SHARED_LIB",
            "-DBOOST_ASIO_SEPARATE_COMPILATION", "-DBOOST_BEAST_SEPARATE_COMPILATION", "-DBOOST_ASIO_NO_DEPRECATED",
            *includes, "-isystem", str(build / "proto"), "-isystem", "/usr/include/editline", header]


def check_headers(tree, build, stamps, jobs, everything):
    headers = [path for path in tree.files if path.endswith(".h") and path.startswith(tuple(f + "/" for f in FOLDERS))]
    keys = {header: tree.key("header", header) for header in headers}
    chosen = [header for header in headers if everything or not stamps.has(keys[header])]
    findings = []
    for header, (code, output) in each_in_parallel(
            jobs, lambda header: run(header_command(build, header), cwd=tree.root), chosen):
        if code == 0:
            stamps.add(keys[header])
        else:
            findings.append(f"{header} does not compile alone:\n{output}")
    return len(chosen), findings


def check_tidy(tree, build, stamps, jobs, everything):
    with open(build / "compile_commands.json", encoding="utf-8") as file:
        known = {os.path.relpath(entry["file"], tree.root) for entry in json.load(file)}
    sources = [path for path in tree.files if path in known and path.startswith(tuple(f + "/" for f in TIDIED))]
    purpose = "analyzed" if everything else "tidied"
    keys = {path: tree.key(purpose, path) for path in sources}
    own = {path: tree.key(purpose + " itself", path, alone=True) for path in sources}
    missing = [path for path in sources if everything or not stamps.has(keys[path])]
    if everything:
        chosen = missing
    else:
        cold = not any(stamps.has(key) for key in own.values())
        changed = [] if cold else [path for path in missing if not stamps.has(own[path])]
        rest = [path for path in missing if path not in changed]
        turn = tree.turn()
        chosen = changed + rest[turn::ROTATION]
    checks = [] if everything else ["--checks=-clang-analyzer-*"]
    findings = []

    def tidy(path):
        return run(["clang-tidy", "--quiet", f"-p={build}", *checks, path], cwd=tree.root)

    for path, (code, output) in each_in_parallel(jobs, tidy, chosen):
        if code == 0:
            stamps.add(keys[path])
            stamps.add(own[path])
        else:
            lines = [line for line in output.split("\n") if not re.match(r"\d+ warnings? (generated|treated)", line)]
            findings.append("\n".join(lines))
    return len(chosen), findings


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("what", nargs="?", choices=["all"])
    parser.add_argument("--stamps", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    build, everything = options.build.resolve(), options.what == "all"
    tree, stamps = Tree(options.root.resolve()), Stamps(options.stamps)
    wrong, summary = False, []
    for name, check in (
            ("layout", lambda: check_layout(tree, options.jobs)),
            ("headers", lambda: check_headers(tree, build, stamps, options.jobs, everything)),
            ("clang-tidy", lambda: check_tidy(tree, build, stamps, options.jobs, everything))):
        began = time.monotonic()
        read, findings = check()
        for finding in findings:
            print(finding)
        summary.append(f"{name}: {read} files read in {time.monotonic() - began:.0f} s, {len(findings)} with findings")
        print(summary[-1], flush=True)
        wrong = wrong or bool(findings)
    (build / "summary.txt").write_text("\n".join(summary) + "\n", encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
