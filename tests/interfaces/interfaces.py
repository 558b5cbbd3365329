#!/usr/bin/env python3
"""Compares the binary interface of the client library, and the protos, with what is recorded here.

    interfaces.py abi check|record LIBRARY HEADERS    LIBRARY: libitemdb_client.so with debug information (the target
                                                      itemdb_client_abi); HEADERS: the folder of the public headers
    interfaces.py protos check|record PROTO BUF       PROTO: the folder of the protos; BUF: the program buf

`check` fails, and names what changed, if a program that was linked with the library, or a client that was generated
from the protos, could break. What is only added is no finding. `record` makes the present interface the recorded one.

The record of the library is SONAME.abi.xz, what abidw writes of the public headers: so another soname needs a record of
its own. The record of the protos is protos.binpb.gz, a descriptor set.
"""

import gzip
import lzma
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SUPPRESSIONS = HERE / "abi.supp"
PROTO_RECORD = HERE / "protos.binpb.gz"
# FILE is the strictest category: generated code compiles unchanged too. The format on the wire, alone, would let a name change.
BUF_CONFIG = '{"version": "v2", "breaking": {"use": ["FILE"]}}'
# Of abidiff's exit code: the comparison failed; the interface changed.
ABIDIFF_FAILED, ABIDIFF_CHANGED = 1 | 2, 4 | 8
# What is printed of abidiff's report, which names every function that a changed type reaches.
REPORT_LINES = 60


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True)


def must(*command):
    done = run(*command)
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def describe_library(library, headers):
    """What abidw writes of the library: without paths, lines and names of parameters, which break no program."""
    return must("abidw", "--headers-dir", headers, "--drop-private-types", "--exported-interfaces-only", "--suppressions",
                SUPPRESSIONS, "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-parameter-names",
                "--no-write-default-sizes", "--drop-undefined-syms", "--no-elf-needed", library)


def attribute(description, name):
    return re.search(rf"<abi-corpus [^>]*\b{name}='([^']*)'", description).group(1)


def broken_parts(report):
    """The names in abidiff's report. Functions whose arguments changed are named only where no type of ours is."""
    removed = re.findall(r"^ *\[D\] '(.*?)'(?:  | *$)", report, re.MULTILINE)
    types = re.findall(r"^'((?:struct|class|enum|union|typedef) itemdb::.*?)' changed:", report, re.MULTILINE)
    functions = re.findall(r"^ *\[C\] '(.*?)'(?: at \S+)? has some", report, re.MULTILINE)
    return [f"removed: {name}" for name in removed] + [f"changed: {name}" for name in types or functions]


def check_library(description, soname):
    record = HERE / f"{soname}.abi.xz"
    if not record.exists():
        sys.exit(f"No binary interface is recorded for {soname}, the library's name of this version: record it with ./dev interfaces record")
    recorded = lzma.decompress(record.read_bytes()).decode()
    if attribute(recorded, "architecture") != attribute(description, "architecture"):
        print(f"{record.name} was recorded on another machine ({attribute(recorded, 'architecture')}): not compared")
        return
    with tempfile.TemporaryDirectory() as folder:
        before, after = pathlib.Path(folder, "recorded.xml"), pathlib.Path(folder, "now.xml")
        before.write_text(recorded, encoding="utf-8")
        after.write_text(description, encoding="utf-8")
        # Not with the suppressions, which are applied in the two descriptions: here they would hide changed types too.
        compared = run("abidiff", "--no-added-syms", "--no-show-locs", "--leaf-changes-only", "--no-unreferenced-symbols", before, after)
    if compared.returncode & ABIDIFF_FAILED:
        sys.exit(f"abidiff failed:\n{compared.stdout}{compared.stderr}")
    if compared.returncode & ABIDIFF_CHANGED:
        named = "".join(f"  {part}\n" for part in broken_parts(compared.stdout))
        lines = compared.stdout.splitlines()
        report = "\n".join(lines[:REPORT_LINES] + ([f"... {len(lines) - REPORT_LINES} more lines"] if len(lines) > REPORT_LINES else []))
        sys.exit(f"Programs that were linked with {soname} would break:\n{named}\n{report}\n"
                 "Keep these, or give the library another name by the version in CMakeLists.txt (MAJOR.MINOR is part of it), with a "
                 "line in CHANGELOG.md. Then, or if no version with this interface was released yet: ./dev interfaces record")
    print(f"{soname} has the binary interface that is recorded")


def library(what, path, headers):
    description = describe_library(path, headers)
    soname = attribute(description, "soname")
    if what == "check":
        check_library(description, soname)
        return
    for old in HERE.glob("libitemdb_client.so.*.abi.xz"):
        old.unlink()
    record = HERE / f"{soname}.abi.xz"
    record.write_bytes(lzma.compress(description.encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"recorded {record.name}, {record.stat().st_size} bytes")


def public_protos(folder):
    """Without itemdb/wire, whose messages only the daemon itself uses, and reflection, which is gRPC's."""
    return sorted([*folder.glob("itemdb/v1/*.proto"), *folder.glob("google/rpc/*.proto")])


def protos(what, folder, buf):
    with tempfile.TemporaryDirectory() as scratch:
        now = pathlib.Path(scratch, "now.binpb")
        lines = ["--include_source_info"] if what == "check" else []
        must("protoc", "--include_imports", *lines, f"--descriptor_set_out={now}", f"-I{folder}", *public_protos(pathlib.Path(folder)))
        if what == "record":
            PROTO_RECORD.write_bytes(gzip.compress(now.read_bytes(), mtime=0))
            print(f"recorded {PROTO_RECORD.name}, {PROTO_RECORD.stat().st_size} bytes")
            return
        compared = run(buf, "breaking", now, "--against", PROTO_RECORD, "--config", BUF_CONFIG)
    if compared.returncode == 0:
        print("the protos are compatible with those that are recorded")
        return
    sys.exit(f"Clients that were generated from the protos of the last release would break:\n{compared.stdout}{compared.stderr}\n"
             "Keep these: add fields, values, methods and messages, and leave the old ones as they are. A release records its own protos: "
             "./dev interfaces record")


def main():
    subjects = {"abi": library, "protos": protos}
    if len(sys.argv) != 5 or sys.argv[1] not in subjects or sys.argv[2] not in ("check", "record"):
        sys.exit(__doc__)
    subjects[sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    main()
