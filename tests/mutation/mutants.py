#!/usr/bin/python3
"""Mutation testing: how many small errors in the code do the tests notice?

    mutants.py AREA [--mutants 200] [--seed 1] [--work DIRECTORY] [--jobs N]

Draws mutants of an area (AREAS below) at random and compiles them in a copy of the tree, all that do not overlap in one
build. A mutant is one change of a condition, an operator or a statement. The environment variable ITEMDB_MUTANT=n turns
on mutant n. The tests run once without a mutant, to learn which suites reach which mutants, and then for each mutant
those suites that reach it, until one fails. A mutant is killed if a suite fails, crashes or takes ten times as long;
otherwise it survives. equivalent.txt lists mutants that change nothing that anybody can see; they are not counted.

`./dev mutants AREA` installs what this needs (python3-clang-14 on Debian 12). The results are in DIRECTORY/AREA.json and on standard
output. The seed and the commit decide which mutants are drawn.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import sys
import time

import clang.cindex
from clang.cindex import CursorKind, TypeKind

TREE = pathlib.Path(__file__).resolve().parents[2]
EQUIVALENT = pathlib.Path(__file__).with_name("equivalent.txt")
# A build drops the mutants that do not compile and begins again.
MAX_BUILDS = 25


@dataclasses.dataclass
class Area:
    what: str
    sources: list  # patterns of files
    programs: list  # names of test programs


AREAS = {
    "keys": Area("the encoding of keys", ["storage/keys/*.cc"], ["keys_test", "database_test"]),
    "indexes": Area(
        "index entries, their creation, check and repair", ["storage/indexes/*.cc"], ["database_test", "engine_test"]
    ),
    "conditions": Area(
        "conditions, projections and updates", ["storage/expressions/*.cc"], ["expressions_test", "database_test"]
    ),
    "recovery": Area(
        "opening and recovery of a database",
        [
            "storage/engine/completeness.cc",
            "storage/engine/damaged_store.cc",
            "storage/engine/durability_watermark.cc",
            "storage/engine/last_good.cc",
            "storage/engine/load_catalog.cc",
            "storage/engine/quarantine.cc",
            "storage/engine/readable_items.cc",
            "storage/engine/recovery.cc",
            "storage/engine/synced_sequence.cc",
            "storage/engine/table_files.cc",
            "storage/engine/torn_tail.cc",
            "storage/engine/catalog_copy.cc",
            "storage/store/logged_changes.cc",
            "storage/store/manifest_mark.cc",
            "storage/store/catalog_records.cc",
        ],
        ["engine_test", "damage_test"],
    ),
    "authorisation": Area(
        "access keys, roles, signatures, the audit log",
        ["daemon/access/*.cc", "daemon/http/signature/*.cc"],
        ["serving_test", "daemon_test", "http_test", "e2e_test"],
    ),
}

# In e2e_test only what is about keys; the rest takes minutes and tests something else.
PROGRAM_FILTERS = {"e2e_test": "*Access*:*Audit*:*Key*:*Role*:*Sign*:*Tls*:*Certificate*:*S3*"}

HEADER = """#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cstdlib>
#include <type_traits>
namespace itemdb_mutation {
inline const int kChosen = [] {
  const char* text = std::getenv("ITEMDB_MUTANT");
  return text == nullptr ? 0 : std::atoi(text);
}();
inline char* const kReached = []() -> char* {
  const char* path = std::getenv("ITEMDB_MUTANTS_REACHED");
  if (path == nullptr) return nullptr;
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* bytes = mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return bytes == MAP_FAILED ? nullptr : static_cast<char*>(bytes);
}();
inline bool OnNow(int mutant) {
  if (kReached != nullptr) kReached[mutant] = 1;
  return mutant == kChosen;
}
constexpr bool On(int mutant) { return std::is_constant_evaluated() ? false : OnNow(mutant); }
}  // namespace itemdb_mutation
"""
WARNINGS = (
    "parentheses int-in-bool-context unused-variable unused-but-set-variable unused-but-set-parameter unused-value "
    "unused-result unused-function implicit-fallthrough return-type sign-compare maybe-uninitialized bool-compare "
    "uninitialized bool-operation logical-op empty-body misleading-indentation dangling-else"
).split()

OPPOSITE = {
    "==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&", "+": "-", "-": "+",
}  # fmt: skip
INTEGERS = {
    TypeKind.CHAR_U, TypeKind.UCHAR, TypeKind.CHAR_S, TypeKind.SCHAR, TypeKind.USHORT, TypeKind.UINT, TypeKind.ULONG,
    TypeKind.ULONGLONG, TypeKind.SHORT, TypeKind.INT, TypeKind.LONG, TypeKind.LONGLONG,
}  # fmt: skip
FUNCTIONS = {
    CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR,
    CursorKind.FUNCTION_TEMPLATE, CursorKind.CONVERSION_FUNCTION, CursorKind.LAMBDA_EXPR,
}  # fmt: skip


@dataclasses.dataclass
class Mutant:
    file: str
    line: int
    kind: str
    begin: int
    end: int
    before: str
    after: str
    number: int = 0
    result: str = ""
    by: str = ""

    def text(self):
        """Source text in which the mutant can be turned on."""
        on = f"::itemdb_mutation::On({self.number})"
        if self.kind == "negate":
            return f"({on} != static_cast<bool>({self.before}))"
        if self.kind == "remove":
            return f"if (!{on}) {self.before}"
        return f"({on} ? ({self.after}) : ({self.before}))"

    def name(self):
        return f"{self.file}:{self.line}: {self.kind}: {one_line(self.before)}" + (
            f" -> {one_line(self.after)}" if self.after else ""
        )

    def key(self):
        """How equivalent.txt names it: without the line number, which changes often."""
        return (self.file, self.kind, one_line(self.before))


def one_line(text):
    return " ".join(text.split())


class Finder:
    """Finds all possible mutants of one file."""

    def __init__(self, file, text, unit):
        self.file = file
        self.text = text
        self.found = []
        for cursor in unit.cursor.get_children():
            self.visit(cursor, False)

    def in_file(self, cursor):
        place = cursor.extent.start.file
        return place is not None and place.name == str(self.file)

    def span(self, cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def source(self, begin, end):
        return self.text[begin:end].decode()

    def add(self, kind, cursor, after="", begin=None, end=None):
        first, last = self.span(cursor)
        begin = first if begin is None else begin
        end = last if end is None else end
        before = self.source(begin, end)
        # Code of macros has the place of the macro.
        if not before or re.match(r"[A-Z][A-Z_0-9]+\b", before) or before.count("(") != before.count(")"):
            return
        self.found.append(
            Mutant(str(self.file.relative_to(TREE)), cursor.extent.start.line, kind, begin, end, before, after)
        )

    def visit(self, cursor, in_function):
        if cursor.kind == CursorKind.NAMESPACE or not in_function:
            if cursor.kind.is_declaration() and not self.in_file(cursor):
                return
        if cursor.kind == CursorKind.VAR_DECL and self.in_file(cursor):
            # Computed by the compiler: nothing can turn it on or off.
            if re.match(r"(static\s+|inline\s+)*constexpr\b", self.source(*self.span(cursor))):
                return
        inside = in_function or (cursor.kind in FUNCTIONS and cursor.is_definition()) or cursor.kind == CursorKind.LAMBDA_EXPR
        children = list(cursor.get_children())
        if inside and self.in_file(cursor):
            self.mutate(cursor, children)
        for child in children:
            self.visit(child, inside)

    def mutate(self, cursor, children):
        kind = cursor.kind
        if kind in (CursorKind.IF_STMT, CursorKind.WHILE_STMT, CursorKind.CONDITIONAL_OPERATOR):
            begin, end = self.span(cursor)
            if re.match(r"if\s+constexpr\b", self.source(begin, end)) or not children:
                return
            least = 3 if kind == CursorKind.CONDITIONAL_OPERATOR else 2
            if len(children) >= least and children[0].kind.is_expression() and len(children) <= 3:
                self.add("negate", children[0])
        elif kind == CursorKind.RETURN_STMT and children:
            if children[0].type.get_canonical().kind == TypeKind.BOOL:
                self.add("negate", children[0])
        elif kind == CursorKind.BINARY_OPERATOR and len(children) == 2:
            self.operator(cursor, children[0], children[1])
        elif kind == CursorKind.CALL_EXPR and cursor.spelling.startswith("operator") and len(children) == 3:
            self.operator(cursor, children[0], children[2])
        elif kind == CursorKind.INTEGER_LITERAL:
            begin, end = self.span(cursor)
            if re.fullmatch(rb"[0-9']+|0x[0-9a-fA-F']+", self.text[begin:end]):
                self.add("constant", cursor, self.source(begin, end) + " + 1")
        if kind == CursorKind.COMPOUND_STMT:
            for child in children:
                self.statement(child)

    def operator(self, cursor, left, right):
        left_begin, left_end = self.span(left)
        right_begin, right_end = self.span(right)
        sign = self.source(left_end, right_begin).strip() if left_end <= right_begin else ""
        if sign not in OPPOSITE:
            return
        if sign in "+-" and cursor.type.get_canonical().kind not in INTEGERS:
            return
        after = f"{self.source(left_begin, left_end)} {OPPOSITE[sign]} {self.source(right_begin, right_end)}"
        self.add("operator", cursor, after, left_begin, right_end)

    def statement(self, child):
        begin, end = self.span(child)
        removable = child.kind.is_expression() or child.kind in (CursorKind.CONTINUE_STMT, CursorKind.BREAK_STMT)
        if removable and re.match(rb"\s*;", self.text[end : end + 8]):
            self.add("remove", child)


def find(sources, commands):
    found = []
    for file in sources:
        arguments = commands.get(str(file))
        if arguments is None:
            raise SystemExit(f"{file} is not in compile_commands.json")
        unit = clang.cindex.Index.create().parse(str(file), args=arguments)
        errors = [d for d in unit.diagnostics if d.severity >= clang.cindex.Diagnostic.Error]
        if errors:
            raise SystemExit(f"{file}: {errors[0]}")
        found += Finder(file, file.read_bytes(), unit).found
    return found


def compile_commands(build):
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        arguments = shlex.split(entry["command"])[1:]
        kept, skip = [], False
        for argument in arguments:
            if skip or argument in ("-c", entry["file"]):
                skip = False
            elif argument in ("-o", "-Xclang"):
                skip = True
            else:
                kept.append(argument)
        commands[entry["file"]] = kept + ["-w"]
    return commands


def draw(found, count, chance):
    """`count` mutants at random, in batches: those of one batch do not overlap and are built together."""
    chance.shuffle(found)
    batches = []
    for number, mutant in enumerate(found[:count], 1):
        mutant.number = number
        for batch in batches:
            if not any(m.file == mutant.file and mutant.begin < m.end and m.begin < mutant.end for m in batch):
                batch.append(mutant)
                break
        else:
            batches.append([mutant])
    return batches


def write(mutants, sources, copy, header):
    """Writes the sources with these mutants. Returns the mutants of each file."""
    by_file = collections.defaultdict(list)
    for mutant in mutants:
        by_file[mutant.file].append(mutant)
    ignored = "".join(f'#pragma GCC diagnostic ignored "-W{name}"\n' for name in WARNINGS)
    for source in sources:
        file = str(source.relative_to(TREE))
        text = source.read_bytes()
        target = copy / file
        if file in by_file:
            for mutant in sorted(by_file[file], key=lambda m: -m.begin):
                text = text[: mutant.begin] + mutant.text().encode() + text[mutant.end :]
            text = f'#include "{header}"\n{ignored}#line 1 "{target}"\n'.encode() + text
        if target.read_bytes() != text:
            target.write_bytes(text)
    return by_file


def build(mutants, sources, copy, header, programs, log):
    """Builds the test programs. Returns the mutants that compile."""
    for _ in range(MAX_BUILDS):
        by_file = write(mutants, sources, copy, header)
        done = subprocess.run(
            ["nice", "cmake", "--build", "--preset", "release", "--", "-k", "0", *programs, *needed_programs(programs)],
            cwd=copy, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        log.write(done.stdout)
        log.flush()
        if done.returncode == 0:
            return mutants
        lines = set(re.findall(r"(?m)^(\S+?):(\d+):\d+: (?:fatal )?error:", done.stdout))
        bad = set()
        for path, line in lines:
            # Paths in messages may be relative to the build folder.
            file = next((f for f in by_file if path.endswith(f)), None)
            if file is None:
                continue
            at = [m for m in by_file[file] if m.line <= int(line) <= m.line + m.before.count("\n")]
            bad.update(m.number for m in at)
        if not bad:
            raise SystemExit(f"the build fails, and not for a mutant: see {log.name}")
        mutants = [m for m in mutants if m.number not in bad]
    raise SystemExit("too many mutants do not compile")


def needed_programs(programs):
    return ["itemd", "itemctl"] if "e2e_test" in programs else []


def suites_of(program, wanted):
    listing = subprocess.run(
        [program, "--gtest_list_tests", f"--gtest_filter={wanted}"], stdout=subprocess.PIPE, text=True, check=True
    )
    return re.findall(r"(?m)^(\S+)\.(?:\s*#.*)?$", listing.stdout)


@dataclasses.dataclass
class Suite:
    program: pathlib.Path
    name: str
    seconds: float = 0
    reached: set = dataclasses.field(default_factory=set)

    def run(self, environment, timeout):
        """None if it passes, else how it failed."""
        try:
            done = subprocess.run(
                ["nice", str(self.program), f"--gtest_filter={self.name}.*", "--gtest_fail_fast", "--gtest_brief=1"],
                env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout,
                start_new_session=True,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return "timeout"
        return None if done.returncode == 0 else done.stdout[-3000:].decode(errors="replace")


def learn(suite, work):
    """Runs the suite without a mutant."""
    path = work / f"reached-{suite.program.name}-{suite.name.replace('/', '_')}"
    path.write_bytes(bytes(65536))
    start = time.monotonic()
    failure = suite.run({"ITEMDB_MUTANTS_REACHED": str(path)}, 1200)
    suite.seconds = time.monotonic() - start
    suite.reached = {n for n, byte in enumerate(path.read_bytes()) if byte}
    path.unlink()
    return failure


def try_mutant(mutant, suites):
    """Runs the suites that reach the mutant until one fails."""
    for suite in sorted((s for s in suites if mutant.number in s.reached), key=lambda s: s.seconds):
        failure = suite.run({"ITEMDB_MUTANT": str(mutant.number)}, 60 + 10 * suite.seconds)
        if failure is not None:
            mutant.result = "timeout" if failure == "timeout" else "killed"
            mutant.by = f"{suite.program.name}.{suite.name}"
            return
        mutant.result = "survived"


def run(mutants, area, programs, work, pool, known):
    """Sets the result of each mutant and prints those that no test notices."""
    for mutant in mutants:
        mutant.result = "not reached"
    # The first program is the area's own and the quickest; the others are for what it leaves.
    for name in area.programs:
        left = [m for m in mutants if m.result in ("not reached", "survived")]
        if not left:
            break
        suites = [Suite(programs / name, suite) for suite in suites_of(programs / name, PROGRAM_FILTERS.get(name, "*"))]
        for suite, failure in zip(suites, pool.map(lambda s: learn(s, work), suites)):
            if failure is not None:
                print(f"without a mutant {suite.program.name} {suite.name} fails and is left out:\n{failure[-1500:]}")
                suite.reached = set()
        seconds = sum(s.seconds for s in suites)
        print(f"{len(left)} mutants, {len(suites)} suites of {name}: {seconds:.0f} s without a mutant", flush=True)
        list(pool.map(lambda m: try_mutant(m, suites), left))
    for mutant in mutants:
        if mutant.result in ("survived", "not reached"):
            if mutant.key() in known:
                mutant.result = "equivalent"
            print(f"{mutant.result}: {mutant.name()}", flush=True)


def equivalents():
    known = set()
    if EQUIVALENT.exists():
        for line in EQUIVALENT.read_text().splitlines():
            if line and not line.startswith("#"):
                file, kind, before = line.split(" | ")[:3]
                known.add((file, kind, before))
    return known


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("area", choices=sorted(AREAS))
    arguments.add_argument("--mutants", type=int, default=200)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments.add_argument("--work", type=pathlib.Path, default=TREE / "build/mutants")
    given = arguments.parse_args()
    area = AREAS[given.area]

    work = given.work.resolve()
    copy = work / "tree"
    work.mkdir(parents=True, exist_ok=True)
    files = subprocess.run(["git", "ls-files", "-z"], cwd=TREE, stdout=subprocess.PIPE, check=True).stdout
    # Unchanged files keep their times, so that a second run builds only what differs.
    for name in files.decode().split("\0"):
        if name and (TREE / name).is_file():
            target = copy / name
            if not target.exists() or target.read_bytes() != (TREE / name).read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(TREE / name, target)
    header = work / "itemdb_mutation.h"
    if not header.exists() or header.read_text() != HEADER:
        header.write_text(HEADER)

    for preset, directory in (("check", TREE), ("release", copy)):
        subprocess.run(["cmake", "--preset", preset], cwd=directory, stdout=subprocess.DEVNULL, check=True)
    # Generated headers, for the parser.
    subprocess.run(
        ["cmake", "--build", "--preset", "check", "--target", "itemdb_generated"],
        cwd=TREE, stdout=subprocess.DEVNULL, check=True,
    )  # fmt: skip

    sources = sorted(file for pattern in area.sources for file in TREE.glob(pattern))
    found = find(sources, compile_commands(TREE / "build/check"))
    known = equivalents()
    # One place can be found twice, through a template and its instance.
    found = list({(m.file, m.begin, m.end, m.kind): m for m in found}.values())
    possible = len(found)
    # A tenth more, because some do not compile.
    batches = draw(found, given.mutants + given.mutants // 10, random.Random(given.seed))
    print(f"{given.area}: {possible} possible mutants; {sum(map(len, batches))} drawn, in {len(batches)} builds", flush=True)
    mutants = []
    with open(work / f"{given.area}.build.log", "w") as log, concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for batch in batches:
            batch = build(batch, sources, copy, header, area.programs, log)
            batch = batch[: given.mutants - len(mutants)]
            mutants += batch
            run(batch, area, copy / "build/release/bin", work, pool, known)

    counts = collections.Counter(m.result for m in mutants)
    counted = len(mutants) - counts["equivalent"]
    killed = counts["killed"] + counts["timeout"]
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=TREE, stdout=subprocess.PIPE, text=True).stdout
    summary = {
        "area": given.area, "seed": given.seed, "commit": commit.strip(), "possible": possible, "mutants": len(mutants),
        **counts, "killed_percent": round(100 * killed / max(1, counted), 1),
    }  # fmt: skip
    (work / f"{given.area}.json").write_text(
        json.dumps({"summary": summary, "mutants": [dataclasses.asdict(m) for m in mutants]}, indent=1)
    )
    print(json.dumps(summary))
    return 0


if __name__ == "__main__":
    sys.exit(main())
