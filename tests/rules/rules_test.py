"""Compares docs/rules.md with the tree: a test must name every rule, and every rule named anywhere must have a row.

    rules_test.py REPOSITORY          fails and prints each violation
    rules_test.py REPOSITORY --list   also prints, for each rule, the files under tests/ that name it
"""

import pathlib
import re
import sys

FOLDERS = ["proto", "storage", "protocol", "daemon", "client", "tools", "bench", "examples", "tests", "packaging"]
FILES = ["README.md", "ARCHITECTURE.md"]
SUFFIXES = {".cc", ".h", ".proto", ".py", ".sh", ".md", ".txt", ".json"}
RULE = re.compile(r"\b(SEM|EXP|ERR|EXT|OP|SEED|INC|PQL|BAK|PIT|XPT|IMP|BLK|VEC)-(\d+)(?:\.\.(?:\1-)?(\d+))?")


def rows(repository):
    text = (repository / "docs" / "rules.md").read_text()
    return re.findall(r"^\| ((?:SEM|EXP|ERR|EXT|OP|SEED|INC|PQL|BAK|PIT|XPT|IMP|BLK|VEC)-\d+) ", text, re.MULTILINE)


def files(repository):
    for folder in FOLDERS:
        yield from sorted(path for path in (repository / folder).rglob("*") if path.suffix in SUFFIXES)
    yield from (repository / name for name in FILES)


def rules_named_in(text):
    """SEM-042, and each of SEM-040..045."""
    for match in RULE.finditer(text):
        kind, first, last = match.groups()
        for number in range(int(first), int(last or first) + 1):
            yield f"{kind}-{number:0{len(first)}}"


def main():
    repository = pathlib.Path(sys.argv[1])
    known = rows(repository)
    named = {}  # rule -> files that name it
    for path in files(repository):
        for rule in rules_named_in(path.read_text(errors="replace")):
            named.setdefault(rule, set()).add(path.relative_to(repository))
    tests = {rule: sorted(p for p in paths if p.parts[0] == "tests") for rule, paths in named.items()}

    if "--list" in sys.argv[2:]:
        for rule in known:
            print(f"{rule:9}", ", ".join(str(path) for path in tests.get(rule, [])))

    problems = [f"{rule} stands in docs/rules.md twice" for rule in sorted({r for r in known if known.count(r) > 1})]
    problems += [f"no test names {rule}" for rule in known if not tests.get(rule)]
    problems += [
        f"{rule} has no row in docs/rules.md; named in {', '.join(str(p) for p in sorted(named[rule]))}"
        for rule in sorted(set(named) - set(known))
    ]
    print("\n".join(problems) or f"{len(known)} rules, each named by a test")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
