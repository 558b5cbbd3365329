#!/usr/bin/env python3
"""Every type name is defined only once in a program.

Two types with the same name and namespace in two files that do not include each other compile and link. The linker then
keeps one constructor and one destructor and uses them for both types. names_test.py DIR fails for each name of this kind.
"""

import collections
import pathlib
import re
import sys

# Folders whose code may be linked into one program.
FOLDERS = ["storage", "protocol", "daemon", "client", "tools", "bench", "examples", "tests"]

NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
SCOPE = re.compile(
    r"(?:inline\s+)?\bnamespace\b(?P<namespace>[\s\w:]*)\{"
    r"|\b(?:struct|class|enum(?:\s+class)?)\s+(?:[A-Z]\w+_\w+\s+)?(?P<type>[A-Z]\w*(?:::\w+)*)(?:\s+final)?(?:\s*:[^;{}()]*)?\s*\{"
    r"|\{|\}"
)


def defined_types(text):
    """The full names of the types that a file defines with external linkage."""
    scopes = []
    for match in SCOPE.finditer(NOT_CODE.sub('""', text)):
        if match.group(0) == "}":
            if scopes:
                scopes.pop()
        elif match.group("namespace") is not None:
            scopes.append(match.group("namespace").strip())
        elif match.group("type") is not None:
            # Not inside a type or function, and not in an anonymous namespace.
            if all(scopes):
                yield "::".join(scopes + [match.group("type")])
            scopes.append("")
        else:
            scopes.append("")


def self_check():
    text = """
    namespace itemdb { namespace { struct Hidden {}; }
    struct A; struct B : A { struct Inner {}; }; class B::Outside {}; enum class C { kOne };
    inline namespace client { class ITEMDB_EXPORT D final : public B {}; }
    // struct E {};
    void f() { struct Local {}; } }
    """
    found = list(defined_types(text))
    expected = ["itemdb::B", "itemdb::B::Outside", "itemdb::C", "itemdb::client::D"]
    assert found == expected, found


def main():
    self_check()
    root = pathlib.Path(sys.argv[1])
    files = collections.defaultdict(set)
    for folder in FOLDERS:
        for path in (root / folder).rglob("*"):
            if path.suffix in (".h", ".cc"):
                for name in defined_types(path.read_text()):
                    files[name].add(str(path.relative_to(root)))
    twice = {name: sorted(paths) for name, paths in files.items() if len(paths) > 1}
    for name, paths in sorted(twice.items()):
        print(f"{name} is defined in {' and in '.join(paths)}: rename one of them", file=sys.stderr)
    print(f"{len(files)} types, {len(twice)} of them defined twice")
    return 1 if twice else 0


if __name__ == "__main__":
    sys.exit(main())
