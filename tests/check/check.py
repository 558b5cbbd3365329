#!/usr/bin/env python3
"""The checks of `./dev check`, which run no program of the project.

    check.py ROOT BUILD [--stamps DIRECTORY] [--jobs N] [all]

ROOT is the tree. BUILD is a build folder of the preset check, whose compile commands compile each file alone, without
precompiled headers and unity builds, because these could hide a missing include.

  layout       every file has the layout of clang-format
  includes     are spelled from the root: with "../" a file could include headers that its target may not use. An
               include that ARCHITECTURE.md forbids does not compile (FORBIDDEN_INCLUDES)
  documents    links in Markdown files lead to files, and to headings in them; the files and functions that ARCHITECTURE.md
               names exist; docs/operations.md has each alert and each reason of an error, docs/compatibility.md each
               operation of the HTTP protocol
  words        words for which this project has a term of the field (BANNED_WORDS) are not used
  clang-tidy   checks the sources and headers of the products. Several files of one target are read as one, because
               reading the headers of other libraries takes most of the time.
  alone        every header, and every source file, compiles alone

DIRECTORY has a stamp for each file without findings. The name of the stamp is a hash of the file and of all headers of
the project that it includes, so a file is checked again only if one of these has changed. Files whose own text has
changed are always checked. Of the other files (an included header has changed, or there is no stamp) a tenth is
checked, another tenth for each commit. With `all` all files are checked, and clang's static analyzer runs too. The
summary is in BUILD/summary.txt. The exit code is 1 if there is a finding.
"""

import argparse
import concurrent.futures
import functools
import hashlib
import itertools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)
FOLDERS = ("common", "storage", "protocol", "daemon", "client", "tools", "bench", "examples", "tests")
TIDIED = ("common", "storage", "protocol", "daemon", "client", "tools", "bench")
# The folders in which an include is searched; most includes are spelled from the root.
INCLUDE_ROOTS = ("", "client/include", "client/testing/include", "examples", "proto")
ROTATION = 10
MAX_READ_AS_ONE = 16
# Its files use the namespaces of client and of storage; read as one, some names would be ambiguous.
READ_ALONE = "client/testing"


# A source file, and a header that its target must not see: one pair for each boundary.
FORBIDDEN_INCLUDES = [
    ("storage/keys/key_codec.cc", "storage/store/store.h"),
    ("storage/commit/commit_pipeline.cc", "storage/engine/engine.h"),
    ("storage/engine/engine.cc", "storage/items/write_unit.h"),
    ("storage/items/write_item.cc", "storage/database.h"),
    ("daemon/server/data_service.cc", "storage/engine/engine.h"),
    ("daemon/http/api/items.cc", "daemon/rpc/raw_call.h"),
    ("client/core.cc", "storage/base/status.h"),
    ("client/core.cc", "protocol/exceptions.h"),
    ("storage/json/json_writer.cc", "protocol/exceptions.h"),
    ("common/nearest.cc", "storage/base/status.h"),
    ("tools/commands/item_commands.cc", "client/core.h"),
]
# A word, the term to use instead, and where it means something else.
BANNED_WORDS = [
    (r"\bWITNESS\b", "durability watermark", ("storage/engine/durability_watermark", "tests/storage/engine/recovery_test")),
    (r"\b(commit|pipeline's|ordering) role\b|\brole-holder\b", "commit leader", ()),
    (r"\bcarried reads?\b", "prefetched read", ()),
    (r"\bheld states?\b", "pinned snapshot", ()),
    (r"\b[Ll]ets? go of\b|\b[Ll]etting go of\b", "release", ()),
    (r"\bthe keeper\b", "maintenance thread", ()),
    (r"\bdefinitions thread\b", "DDL thread", ()),
    (r"\bexpiry marks?\b", "TTL cursor", ()),
    (r"\bmend(s|ed|ing)?\b", "reconcile, repair", ()),
    (r"\bpublisher thread\b", "completion thread", ()),
    (r"\b[Ll]ow[ _]?[Ww]atermark\b", "trim horizon", ()),
]
# Texts that are quoted as they were, and this list itself.
WORDS_ANYWHERE = ("CHANGELOG.md", "tests/check/check.py", "LICENSE")


class Tree:
    """The files of the project, and which of them include each other."""

    def __init__(self, root):
        self.root = root
        listed = subprocess.run(["git", "ls-files", "*.cc", "*.h"], cwd=root, check=True, capture_output=True, text=True)
        self.files = sorted(path for path in listed.stdout.split() if (root / path).exists())
        # Everything else that affects the findings.
        versions = subprocess.run(["clang++", "--version"], check=True, capture_output=True).stdout
        settings = (root / ".clang-tidy").read_bytes() + (root / ".clang-format").read_bytes()
        protos = b"".join(path.read_bytes() for path in sorted((root / "proto").rglob("*.proto")))
        flags = (root / "CMakePresets.json").read_bytes() + (root / "cmake/compiler.cmake").read_bytes()
        self.common = hashlib.sha256(versions + settings + protos + flags + pathlib.Path(__file__).read_bytes()).digest()

    def turn(self):
        """Which tenth of the files is checked: the same for the same tree, another for another tree."""
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
        """`path` and all files of the project that it includes, directly or indirectly."""
        seen, waiting = {path}, [path]
        while waiting:
            for included in self.includes(waiting.pop()):
                if included not in seen:
                    seen.add(included)
                    waiting.append(included)
        return sorted(seen)

    def key(self, purpose, path, alone=False):
        # With `alone`, the key depends only on the file's own text.
        digest = hashlib.sha256((b"" if alone else self.common) + purpose.encode())
        for each in [path] if alone else self.closure(path):
            digest.update(each.encode() + b"\0" + self.text(each) + b"\0")
        return digest.hexdigest()[:40]


class Stamps:
    """The stamps of files without findings. Deletes stamps that were not used for 30 days."""

    SECONDS_KEPT = 30 * 24 * 3600

    def __init__(self, directory):
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        # There are no stamps on a new machine.
        self.were_empty = not any(directory.iterdir())
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

    def remove(self, key):
        (self.directory / key).unlink(missing_ok=True)


def run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          check=False, **options)
    return done.returncode, done.stdout


def each_in_parallel(jobs, function, items):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        yield from zip(items, pool.map(function, items))


class Unit:
    """Files that are read as one, and the keys of their stamps."""

    def __init__(self, tree, purpose, files, flags=()):
        self.files, self.flags = files, flags
        self.key, self.own_key = (
            hashlib.sha256("".join([tree.key(purpose, path, alone) for path in files] +
                                   ([] if alone else [flag.replace(str(tree.root), "") for flag in flags])).encode()).hexdigest()[:40]
            for alone in (False, True))

    def remember(self, stamps, in_order):
        if in_order:
            stamps.add(self.key)
            self.begin_with(stamps)
        else:
            stamps.remove("own-" + self.own_key)

    def begin_with(self, stamps):
        """From now on the unit's present text does not count as changed."""
        stamps.add("own-" + self.own_key)

    def is_in_order(self, stamps):
        return stamps.has(self.key)

    def has_changed(self, stamps):
        return not stamps.has("own-" + self.own_key)


def choose(tree, stamps, everything, units):
    """The units to check."""
    if everything:
        return units
    missing = [unit for unit in units if not unit.is_in_order(stamps)]
    if stamps.were_empty:
        for unit in units:
            unit.begin_with(stamps)
    changed = [unit for unit in missing if unit.has_changed(stamps)]
    rest = [unit for unit in missing if unit not in changed]
    return changed + rest[tree.turn()::ROTATION]


def check_layout(tree, jobs):
    size = -(-len(tree.files) // (4 * jobs))
    parts = [tree.files[i:i + size] for i in range(0, len(tree.files), size)]
    findings = []
    for _, (code, output) in each_in_parallel(
            jobs, lambda part: run(["clang-format", "--dry-run", "--Werror", *part], cwd=tree.root), parts):
        if code != 0:
            findings.append(output)
    return len(tree.files), findings


def check_includes(tree, build):
    findings = check_forbidden_includes(tree, build)
    for path in tree.files:
        # Precompiled headers include each other.
        if path.startswith("cmake/"):
            continue
        for name in INCLUDE.findall(tree.text(path).decode("utf-8", "replace")):
            if (tree.root / path).parent.joinpath(name).is_file():
                findings.append(f'{path}: "{name}" is not spelled from the root')
    return len(tree.files), findings


def check_forbidden_includes(tree, build):
    flags = source_flags(tree, build)
    findings = []
    for path, header in FORBIDDEN_INCLUDES:
        if path not in flags:
            findings.append(f"{path}, of which check.py knows what it must not include, is not built")
            continue
        # Not in the root of the tree: it would be searched too.
        code, output = run(["clang++", "-fsyntax-only", "-x", "c++", *flags[path], "-"], cwd=build,
                           input=f'#include "{header}"\n')
        if code == 0 or "file not found" not in output:
            findings.append(f'{path} may include "{header}", which ARCHITECTURE.md forbids\n{output}')
    return findings


LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]*)(#[^)\s]*)?\)")
IMAGE = re.compile(r'<(?:img|source)\b[^>]*\b(?:src|srcset)="([^"]*)"')
FENCED = re.compile(r"^( *)```.*?^\1```$", re.M | re.S)
NAMED_FILE = re.compile(r"`((?:storage|daemon|client|tools|tests|proto|bench|cmake|examples|docs|packaging)/[\w./]*\.\w+)`(?: \(`(\w+)`\))?")


def anchors_of(text):
    """The anchors that GitHub makes of the headings of a document."""
    found = {}
    anchors = set()
    for heading in re.findall(r"^#{1,6} +(.*?)\s*$", FENCED.sub("", text), re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")
        seen = found.get(anchor, 0)
        found[anchor] = seen + 1
        anchors.add(f"{anchor}-{seen}" if seen else anchor)
    return anchors


def check_documents(tree):
    """Links, and in ARCHITECTURE.md each `path/file.cc` and each `path/file.cc` (`Function`)."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=tree.root, check=True, capture_output=True, text=True)
    documents = [path for path in listed.stdout.split() if (tree.root / path).exists()]
    texts = {path: (tree.root / path).read_text(encoding="utf-8") for path in documents}
    anchors = {path: anchors_of(text) for path, text in texts.items()}
    findings = []
    for path, text in texts.items():
        text = FENCED.sub("", text)
        for target, anchor in LINK.findall(text) + [(image, "") for image in IMAGE.findall(text)]:
            if "://" in target or target.startswith("mailto:"):
                continue
            if target and not (tree.root / path).parent.joinpath(target).exists():
                findings.append(f"{path}: the link to {target} leads nowhere")
                continue
            document = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
            if anchor and document in anchors and anchor[1:] not in anchors[document]:
                findings.append(f"{path}: the link to {target}{anchor} leads to no heading")
        if path != "ARCHITECTURE.md":
            continue
        for name, function in NAMED_FILE.findall(text):
            if not (tree.root / name).exists():
                findings.append(f"{path} names {name}, which does not exist")
            elif function and not re.search(rf"\b{function}\(", (tree.root / name).read_text(encoding="utf-8")):
                findings.append(f"{path} names {function} of {name}, which has no such function")
    return len(documents), findings + check_alerts(tree) + check_operations(tree) + check_reasons(tree)


def section_of(tree, document, heading):
    """The text from a heading of the second level to the next one."""
    text = (tree.root / document).read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(heading)}$(.*?)(?=^## |\Z)", text, re.M | re.S)
    return found[1] if found else ""


def check_alerts(tree):
    """Each alert has a section in docs/operations.md, and names it as the package installs it; docs/metrics.md has each metric
    of the dashboard, whose panels do not cover each other."""
    document, alerts = "docs/operations.md", "packaging/prometheus/itemdb-alerts.yml"
    rules = re.split(r"^ *- alert: ", (tree.root / alerts).read_text(encoding="utf-8"), flags=re.M)[1:]
    names = [re.match(r"\w+", rule)[0] for rule in rules]
    sections = re.findall(r"^### (\w+)$", section_of(tree, document, "Alerts"), re.M)
    findings = [f"{document} has no section for the alert {name}" for name in names if name not in sections]
    findings += [f"{document} has a section for {name}, which is no alert of {alerts}" for name in sections if name not in names]
    packaging = tree.root / "packaging/debian"
    if "docs" not in (packaging / "itemdb.docs").read_text(encoding="utf-8").split():
        findings.append(f"packaging/debian/itemdb.docs lacks docs, which {alerts} names")
    if "\tdh_compress -X.md\n" not in (packaging / "rules").read_text(encoding="utf-8"):
        findings.append(f"packaging/debian/rules lacks dh_compress -X.md: {document} would be installed as {document}.gz")
    for name, rule in zip(names, rules):
        runbook = f'runbook: "/usr/share/doc/itemdb/{document}#{name.lower()}"'
        if runbook not in rule:
            findings.append(f"{alerts}: {name} lacks the annotation {runbook}")
    dashboard, metrics = "packaging/grafana/itemdb-dashboard.json", "docs/metrics.md"
    described = (tree.root / metrics).read_text(encoding="utf-8")
    used = set(re.findall(r"\b(?:itemdb|process)_\w+", (tree.root / dashboard).read_text(encoding="utf-8")))
    for name in sorted(re.sub("_(bucket|sum|count)$", "", name) for name in used):
        if f"`{name}`" not in described:
            findings.append(f"{dashboard} uses {name}, which {metrics} does not describe")
    panels = json.loads((tree.root / dashboard).read_text(encoding="utf-8"))["panels"]
    if len({panel["id"] for panel in panels}) < len(panels):
        findings.append(f"{dashboard}: two panels have the same id")
    for one, other in itertools.combinations(panels, 2):
        a, b = one["gridPos"], other["gridPos"]
        if a["x"] < b["x"] + b["w"] and b["x"] < a["x"] + a["w"] and a["y"] < b["y"] + b["h"] and b["y"] < a["y"] + a["h"]:
            findings.append(f'{dashboard}: the panels "{one["title"]}" and "{other["title"]}" cover each other')
    findings += [f'{dashboard}: the panel "{panel["title"]}" does not fit into the width of 24'
                 for panel in panels if panel["gridPos"]["x"] + panel["gridPos"]["w"] > 24]
    return findings


def check_operations(tree):
    """Each operation that the HTTP protocol answers has a row in docs/compatibility.md, as one that is offered."""
    document, source = "docs/compatibility.md", "daemon/http/api/operations.cc"
    offered = re.findall(r'^    \{"(\w+)", Role::', (tree.root / source).read_text(encoding="utf-8"), re.M)
    rows = re.findall(r"^\| ([A-Z]\w+) \| ([\w ]+) \|", section_of(tree, document, "Every operation"), re.M)
    names = [name for name, _ in rows]
    findings = [] if offered else [f"{source} has no operations that check.py can read"]
    findings += [f"{document} has no row for {name}" for name in offered if name not in names]
    findings += [f"{document} has {names.count(name)} rows for {name}" for name in sorted(set(names)) if names.count(name) > 1]
    findings += [f"{document} calls {name} not offered" for name, answer in rows if name in offered and answer == "not offered"]
    findings += [f"{document}: {name} is neither same, nor differs, nor always off, nor not offered: {answer}"
                 for name, answer in rows if answer not in ("same", "differs", "always off", "not offered")]
    return findings


def check_reasons(tree):
    """Each reason of an error has a row in docs/operations.md."""
    document = "docs/operations.md"
    rows = re.findall(r"`([A-Z_]+)`", section_of(tree, document, "Errors"))
    findings = []
    for source in ("storage/base/status.h", "daemon/access/access_keys.h", "daemon/serving/serving_context.h"):
        for reason in re.findall(r'kReason\w+ =\s*"([A-Z_]+)"', (tree.root / source).read_text(encoding="utf-8")):
            if reason not in rows:
                findings.append(f"{document} has no row for the reason {reason} of {source}")
    return findings


def check_words(tree):
    listed = subprocess.run(["git", "ls-files", "*.cc", "*.h", "*.md", "*.proto", "*.py", "*.cmake", "*CMakeLists.txt", "dev"],
                            cwd=tree.root, check=True, capture_output=True, text=True)
    files = [path for path in listed.stdout.split() if (tree.root / path).is_file() and not path.startswith(WORDS_ANYWHERE)]
    findings = []
    for path in files:
        for number, line in enumerate((tree.root / path).read_text(encoding="utf-8", errors="replace").split("\n"), 1):
            for word, term, elsewhere in BANNED_WORDS:
                if (found := re.search(word, line)) and not path.startswith(elsewhere or ("-",)):
                    findings.append(f'{path}:{number}: "{found.group(0)}": say {term}')
    return len(files), findings


def header_flags(build):
    # A header alone may include any other header; whether its target may include it is checked where a source
    # file includes the header.
    folders = [*INCLUDE_ROOTS[1:-1], *sorted((build / "include").iterdir())]
    includes = [f"-I{folder}" for folder in folders]
    return ["-std=c++20", "-Wall", "-Werror", "-DSPDLOG_COMPILED_LIB",
            "-DSPDLOG_FMT_EXTERNAL", "-DFMT_SHARED", "-DSPDLOG_SHARED_LIB", "-DBOOST_ASIO_SEPARATE_COMPILATION",
            "-DBOOST_BEAST_SEPARATE_COMPILATION", "-DBOOST_ASIO_NO_DEPRECATED", *includes, "-isystem",
            str(build / "proto"), "-isystem", "/usr/include/editline"]


def source_flags(tree, build):
    """The compile flags of each source file."""
    with open(build / "compile_commands.json", encoding="utf-8") as file:
        entries = json.load(file)
    flags = {}
    for entry in entries:
        words = shlex.split(entry["command"])
        words = words[next(i for i, word in enumerate(words) if word.endswith("clang++")) + 1:]
        left = [word for i, word in enumerate(words) if word not in ("-c", "-o") and (i == 0 or words[i - 1] not in ("-c", "-o"))]
        flags.setdefault(os.path.relpath(entry["file"], tree.root), left)
    return {path: flags[path] for path in tree.files if path in flags}


def check_alone(tree, build, stamps, jobs, everything):
    """Every header, and every source file with the flags it is built with."""
    flags = source_flags(tree, build)
    for path in tree.files:
        if path.endswith(".h") and path.startswith(tuple(folder + "/" for folder in FOLDERS)):
            flags[path] = header_flags(build)
    chosen = choose(tree, stamps, everything, [Unit(tree, "alone", [path], flags[path]) for path in sorted(flags)])
    findings = []

    def compile_alone(unit):
        path = unit.files[0]
        # A header is read as another file's include: #pragma once means nothing in a main file.
        read = ["-include", path, os.devnull] if path.endswith(".h") else [path]
        return run(["clang++", "-fsyntax-only", "-x", "c++", *flags[path], *read], cwd=tree.root)

    for unit, (code, output) in each_in_parallel(jobs, compile_alone, chosen):
        unit.remember(stamps, in_order=code == 0)
        if code != 0:
            findings.append(f"{unit.files[0]} does not compile alone:\n{output}")
    return len(chosen), findings


def check_tidy(tree, build, stamps, jobs, everything):
    groups = {}
    for path, flags in source_flags(tree, build).items():
        if path.startswith(tuple(folder + "/" for folder in TIDIED)):
            groups.setdefault((os.path.dirname(path), *flags), []).append(path)
    purpose = "analyzed" if everything else "tidied"
    units = []
    for (_, *flags), paths in groups.items():
        parts = len(paths) if paths[0].startswith(READ_ALONE) else -(-len(paths) // MAX_READ_AS_ONE)
        for part in range(parts):
            units.append(Unit(tree, purpose, paths[part::parts], flags))
    chosen = choose(tree, stamps, everything, units)
    (build / "tidy").mkdir(exist_ok=True)
    checks = [] if everything else ["--checks=-clang-analyzer-*"]
    findings = []

    def tidy(unit):
        together = build / "tidy" / f"{unit.key}.cc"
        together.write_text("".join(f'#include "{tree.root / path}"\n' for path in unit.files), encoding="utf-8")
        # The header filter matches source files too, because this file includes them.
        code, output = run(["clang-tidy", "--quiet", f"--config-file={tree.root}/.clang-tidy", *checks,
                            f"--header-filter=^({tree.root}|{build}/include/[^/]*)/({'|'.join(TIDIED)})/", str(together),
                            "--", *unit.flags], cwd=tree.root)
        together.unlink()
        return code, output

    for unit, (code, output) in each_in_parallel(jobs, tidy, chosen):
        unit.remember(stamps, in_order=code == 0)
        if code != 0:
            lines = [line for line in output.split("\n") if not re.match(r"\d+ warnings? (generated|treated)", line)]
            findings.append("\n".join(lines))
    return sum(len(unit.files) for unit in chosen), findings


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
            ("includes", lambda: check_includes(tree, build)),
            ("documents", lambda: check_documents(tree)),
            ("words", lambda: check_words(tree)),
            ("clang-tidy", lambda: check_tidy(tree, build, stamps, options.jobs, everything)),
            ("alone", lambda: check_alone(tree, build, stamps, options.jobs, everything))):
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
