"""Reports the coverage of storage/ by its tests from llvm-cov's export; `./dev coverage` runs it.

    coverage_report.py EXPORT BUILD ROOT

File names in the export are relative to the folder BUILD. Prints the lines and branches of each folder, then every
branch of storage/keys and storage/indexes that is never taken. A condition has two branches. Branches inside the
macros that return an error (ITEMDB_RETURN_IF_ERROR, ITEMDB_ASSIGN_OR_RETURN) or end the process (ITEMDB_CHECK) are not
counted, as exception edges are not counted in other languages. The exit code is 1 if fewer lines are reached than the goal.
"""

import collections
import json
import os
import sys

LINE_GOAL = 92.0
BRANCH_FOLDERS = ("storage/keys", "storage/indexes")


def branches_of(file):
    """{(line, column): [times true, times false]}, over all instances of templates."""
    merged = {}
    for line, column, _, _, taken, not_taken, *_ in file["branches"]:
        counts = merged.setdefault((line, column), [0, 0])
        counts[0] += taken
        counts[1] += not_taken
    return merged


def percent(part, whole):
    return 100.0 * part / whole if whole else 100.0


def main(export_path, build, root):
    with open(export_path, encoding="utf-8") as export:
        files = json.load(export)["data"][0]["files"]
    folders = collections.defaultdict(lambda: [0, 0, 0, 0])
    never = []
    for file in sorted(files, key=lambda file: file["filename"]):
        source_path = os.path.join(build, file["filename"])
        path = os.path.relpath(source_path, root)
        if not path.startswith("storage/"):
            continue
        branches = branches_of(file)
        ways = [count for counts in branches.values() for count in counts]
        lines = file["summary"]["lines"]
        for folder in (os.path.dirname(path), "all"):
            total = folders[folder]
            total[0] += lines["covered"]
            total[1] += lines["count"]
            total[2] += sum(1 for count in ways if count > 0)
            total[3] += len(ways)
        if path.startswith(BRANCH_FOLDERS):
            with open(source_path, encoding="utf-8") as source:
                text = source.read().split("\n")
            for (line, column), counts in sorted(branches.items()):
                for count, way in zip(counts, ("true", "false")):
                    if count == 0:
                        never.append(f"{path}:{line}:{column} never {way}: {text[line - 1].strip()}")

    print(f"{'folder':22} {'lines':>22} {'branches':>22}")
    for folder in sorted(folders, key=lambda folder: (folder == "all", folder)):
        covered, count, taken, ways = folders[folder]
        print(
            f"{folder:22} {covered:6} of {count:5}  {percent(covered, count):5.1f} %"
            f" {taken:6} of {ways:5}  {percent(taken, ways):5.1f} %"
        )
    print(f"\nBranches of {' and '.join(BRANCH_FOLDERS)} that are never taken: {len(never)}")
    for branch in never:
        print("  " + branch)
    reached = percent(folders["all"][0], folders["all"][1])
    print(f"\n{reached:.1f} % of the lines of storage/ are reached; the goal is {LINE_GOAL:.0f} %")
    return 0 if reached >= LINE_GOAL else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
