#!/usr/bin/env python3
"""Makes a package for npm of the tarball, so that `npx itemdb` runs itemd.

    make_package.py TARBALL OUT

TARBALL is itemdb-VERSION-linux-MACHINE.tar.gz, which packaging/bundle.py makes; OUT the folder for itemdb-VERSION.tgz.
Needs npm, which downloads nothing for it.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# Node.js's names of machines.
CPUS = {"x86_64": "x64", "aarch64": "arm64"}


def npm_version(version):
    """npm takes only MAJOR.MINOR.PATCH, with what comes before a release behind a hyphen."""
    numbers, rest = re.fullmatch(r"(\d+(?:\.\d+)*)(.*)", version).groups()
    numbers = (numbers.split(".") + ["0", "0"])[:3]
    rest = re.sub(r"[^0-9A-Za-z.]+", ".", rest).strip(".")
    return ".".join(numbers) + (f"-{rest}" if rest else "")


def description(version, machine):
    return {
        "name": "itemdb",
        "version": npm_version(version),
        "description": "DynamoDB's API on one machine: a database server for tests and for production",
        "license": "SEE LICENSE IN itemdb/LICENSE",
        "os": ["linux"],
        "cpu": [CPUS[machine]],
        "libc": ["glibc"],
        "bin": {"itemdb": "itemdb.js", "itemd": "itemd.js", "itemctl": "itemctl.js"},
        "files": ["itemdb.js", "itemd.js", "itemctl.js", "itemdb"],
        "engines": {"node": ">=16"},
    }


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tarball, out = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    name = re.fullmatch(r"itemdb-(.+)-linux-(\w+)\.tar\.gz", tarball.name)
    if name is None or name.group(2) not in CPUS:
        sys.exit(f"{tarball.name} is not itemdb-VERSION-linux-MACHINE.tar.gz with a MACHINE of {', '.join(CPUS)}")
    with tempfile.TemporaryDirectory() as folder:
        package = pathlib.Path(folder)
        subprocess.run(["tar", "-xzf", tarball, "-C", package], check=True)
        (package / tarball.name.removesuffix(".tar.gz")).rename(package / "itemdb")
        # npm leaves out symbolic links.
        links = [path for path in (package / "itemdb").rglob("*") if path.is_symlink()]
        for link in links:
            target = link.resolve(strict=True)
            link.unlink()
            shutil.copy2(target, link)
        made = description(*name.groups())
        # One file under each name: npm's links to it resolve to the file's own name.
        for program in made["bin"].values():
            shutil.copy(HERE / "run.js", package / program)
            (package / program).chmod(0o755)
        # The tarball's own README has the number.
        glibc = re.search(r"\bglibc (\d+\.\d+)\b", (package / "itemdb/README.md").read_text(encoding="utf-8")).group(1)
        readme = (HERE / "README.md").read_text(encoding="utf-8").replace("@GLIBC@", glibc)
        (package / "README.md").write_text(readme, encoding="utf-8")
        (package / "package.json").write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
        subprocess.run(["npm", "pack", "--silent", "--pack-destination", str(out)], cwd=package, check=True)


if __name__ == "__main__":
    main()
