#!/usr/bin/env bash
# Runs the programs of the tarball in a root that has nothing but the tarball and glibc: every other library must be in it.
# Reads the SBOM. Needs root, for chroot.
#
#   tarball_test.sh FOLDER    the folder in which packaging/bundle.py has written its files
set -euo pipefail
work=$(mktemp -d)
daemon=
trap '[[ -z $daemon ]] || kill "$daemon" 2>/dev/null || true; umount "$work/root/proc" 2>/dev/null; rm -rf "$work"' EXIT

tarball=$(ls "$1"/itemdb-*-linux-*.tar.gz)
mkdir -p "$work/root/tmp" "$work/root/opt"
tar -C "$work/root/opt" -xzf "$tarball"
folder=/opt/$(basename "$tarball" .tar.gz)
# The files of glibc, as this system has them.
dpkg-query -L libc6 | while read -r file; do
  if [[ ($file == *.so || $file == *.so.*) && -f $file ]]; then
    mkdir -p "$work/root$(dirname "$file")"
    cp -L "$file" "$work/root$file"
  fi
done
interpreter=$(readelf -l "$work/root$folder/bin/itemd" | sed -n 's/.*program interpreter: \(.*\)]/\1/p')
mkdir -p "$work/root$(dirname "$interpreter")"
cp -L "$interpreter" "$work/root$interpreter"

# glibc asks /proc/self/exe for the folder of a program.
mkdir "$work/root/proc" && mount -t proc proc "$work/root/proc"
inside() { chroot "$work/root" "$@"; }
inside "$folder/bin/itemd" --version
inside "$folder/bin/itemctl" version
chroot "$work/root" "$folder/bin/itemd" --data-dir /tmp/data --listen unix:/tmp/itemd.sock 2>"$work/log" &
daemon=$!
for _ in $(seq 200); do [[ -S $work/root/tmp/itemd.sock ]] && break; sleep 0.1; done
inside "$folder/bin/itemctl" --endpoint unix:/tmp/itemd.sock status || { cat "$work/log" >&2; exit 1; }
kill "$daemon" && wait "$daemon"
daemon=

for name in LICENSE README.md itemd.service itemd.toml licences/librocksdb-dev licences/libstdc++6; do
  [[ -s $work/root$folder/$name ]] || { echo "$name is missing in the tarball" >&2; exit 1; }
done
grep -q '^ExecStart=/opt/itemdb/bin/itemd$' "$work/root$folder/itemd.service"
cmp "$work/root$folder"/*.spdx.json "$1"/itemdb-*.spdx.json

python3 - "$1"/itemdb-*.spdx.json "$work/root$folder/lib" <<'PYTHON'
import json, os, subprocess, sys
document = json.load(open(sys.argv[1]))
assert document["spdxVersion"] == "SPDX-2.3" and document["SPDXID"] == "SPDXRef-DOCUMENT"
packages = {package["SPDXID"]: package for package in document["packages"]}
assert len(packages) == len(document["packages"]), "an id is there twice"
related = {r["relatedSpdxElement"] for r in document["relationships"]}
assert related == set(packages), related ^ set(packages)
names = {package["name"]: package["versionInfo"] for package in packages.values()}
# Each library in the folder is of a package in the list, in the version that dpkg has.
for library in os.listdir(sys.argv[2]):
    found = subprocess.run(["dpkg-query", "-S", f"*/{library}"], capture_output=True, text=True).stdout
    owners = {line.split(":")[0] for line in found.splitlines()}
    assert owners & set(names), (library, owners)
for name in ("libssl3", "libgrpc++1.51", "librocksdb-dev"):
    if name == "librocksdb-dev" or subprocess.run(["dpkg-query", "-W", name], capture_output=True).returncode == 0:
        installed = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", name], capture_output=True, text=True).stdout
        assert names[name] == installed, (name, names.get(name), installed)
print(f"the SBOM lists {len(packages)} packages")
PYTHON
echo "the tarball runs beside glibc alone"
