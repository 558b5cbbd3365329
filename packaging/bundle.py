#!/usr/bin/env python3
"""Makes the tarball of this version: one folder that runs wherever it is unpacked, on every x86-64 or arm64 Linux whose
glibc is as new as that of the machine that built it; and the list of what is in it, an SBOM.

    bundle.py BUILD VERSION SECONDS OUT

BUILD is the folder of a release build, SECONDS the time that files are dated by, OUT the folder for
itemdb-VERSION-linux-MACHINE.tar.gz and itemdb-VERSION.spdx.json. Needs patchelf and binutils.

The folder has the programs, and the shared libraries that they are linked with, but for those of glibc, which belong to
the system that runs them. Programs find the libraries beside them (DT_RPATH, which counts for libraries of libraries
too). Versions and licences of libraries are those of the Debian packages that they come from, as dpkg knows them. The
same build makes the same bytes.
"""

import gzip
import hashlib
import io
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ("itemd", "itemctl")
# Libraries of these packages are those of the system that runs the programs.
OF_THE_SYSTEM = ("libc6",)
# Compiled into the programs: headers, and static libraries. RocksDB is compiled from the source package of this one. The
# package of Boost has its version in its name.
COMPILED_IN = ("librocksdb-dev", "libhnswlib-dev", "nlohmann-json3-dev", "libcli11-dev")
BOOST_HEADER = pathlib.Path("/usr/include/boost/version.hpp")
NPM_LOCK = SOURCE / "daemon/console/web/package-lock.json"
COPYRIGHT = SOURCE / "packaging/debian/copyright"


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def linked_libraries(program):
    """The files of all shared libraries of a program: name to path."""
    libraries = {}
    for line in run("ldd", str(program)).splitlines():
        if "not found" in line:
            sys.exit(f"{program}: {line.strip()}")
        if found := re.match(r"\s*(\S+) => (/\S+) ", line):
            libraries[found.group(1)] = pathlib.Path(found.group(2)).resolve()
    return libraries


def newest_glibc(files):
    """The oldest glibc beside which all of these programs and libraries run, such as "2.36": what they ask for by version."""
    asked = {tuple(map(int, version.split("."))) for file in files
             for version in re.findall(r"\bGLIBC_(\d+(?:\.\d+)+)\b",
                                       # Packed relocations: no symbol has this version.
                                       run("objdump", "-p", str(file)).replace("GLIBC_ABI_DT_RELR", "GLIBC_2.36"))}
    return ".".join(map(str, max(asked)))


def package_of(path):
    """The Debian package that a file belongs to; it may be known under /lib instead of /usr/lib."""
    for candidate in (str(path), str(path).removeprefix("/usr")):
        answer = subprocess.run(["dpkg-query", "-S", candidate], capture_output=True, text=True)
        if answer.returncode == 0:
            return answer.stdout.split(":")[0]
    sys.exit(f"{path} belongs to no Debian package: dpkg knows nothing of its version and licence")


def describe_packages(names):
    """What dpkg knows of packages: name to version, architecture, source, homepage."""
    fields = "${Package}\\t${Version}\\t${Architecture}\\t${source:Package}\\t${source:Version}\\t${Homepage}\\n"
    described = {}
    for line in run("dpkg-query", "-W", "-f", fields, *sorted(names)).splitlines():
        name, version, architecture, source, source_version, homepage = line.split("\t")
        described[name] = {"version": version, "architecture": architecture, "source": source,
                           "source_version": source_version, "homepage": homepage}
    return described


def npm_packages(build):
    """The packages of npm that the console contains: (name, version, licence). Nothing without the console."""
    if "ITEMDB_CONSOLE:STRING=ON" not in (build / "CMakeCache.txt").read_text():
        return []
    contained = re.findall(r"^Files: node_modules/(\S+)/\*$", COPYRIGHT.read_text(), re.MULTILINE)
    packages = json.loads(NPM_LOCK.read_text())["packages"]
    return [(name, packages[f"node_modules/{name}"]["version"], packages[f"node_modules/{name}"]["license"])
            for name in sorted(contained)]


def spdx_id(kind, name):
    return f"SPDXRef-{kind}-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def sbom(version, seconds, linked, compiled_in, npm):
    """A document of SPDX 2.3: the program, and each package that it is linked with or contains."""
    of_itself = "SPDXRef-Package-itemdb"
    packages = [{"SPDXID": of_itself, "name": "itemdb", "versionInfo": version, "downloadLocation": "NOASSERTION",
                 "filesAnalyzed": False, "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0",
                 "copyrightText": "2026 The itemdb developers", "primaryPackagePurpose": "APPLICATION"}]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", of_itself)]
    for described, relation in ((linked, "DYNAMIC_LINK"), (compiled_in, "STATIC_LINK")):
        for name, facts in sorted(described.items()):
            packages.append({
                "SPDXID": spdx_id("Deb", name), "name": name, "versionInfo": facts["version"],
                "supplier": "Organization: Debian", "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
                "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION",
                "homepage": facts["homepage"] or "NOASSERTION",
                "sourceInfo": f"built from the Debian source package {facts['source']} {facts['source_version']}",
                "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator":
                                  f"pkg:deb/debian/{name}@{facts['version']}?arch={facts['architecture']}"}]})
            relations.append((of_itself, relation, spdx_id("Deb", name)))
    for name, npm_version, licence in npm:
        packages.append({
            "SPDXID": spdx_id("Npm", name), "name": name, "versionInfo": npm_version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": licence,
            "licenseDeclared": licence, "copyrightText": "NOASSERTION",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": f"pkg:npm/{name.replace('@', '%40')}@{npm_version}"}]})
        relations.append((of_itself, "CONTAINS", spdx_id("Npm", name)))
    digest = hashlib.sha256(json.dumps(packages, sort_keys=True).encode()).hexdigest()
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"itemdb-{version}", "documentNamespace": f"https://itemdb.invalid/spdx/itemdb-{version}-{digest}",
            "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds)),
                             "creators": ["Organization: The itemdb developers"]},
            "packages": packages,
            "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
                              for a, kind, b in relations]}


def write_tarball(folder, path, seconds):
    def dated(entry):
        entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = seconds, 0, 0, "root", "root"
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
        return entry
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.GNU_FORMAT) as tar:
        tar.add(folder, folder.name, recursive=False, filter=dated)
        for entry in sorted(folder.rglob("*")):
            tar.add(entry, str(pathlib.Path(folder.name) / entry.relative_to(folder)), recursive=False, filter=dated)
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(plain.getvalue())


def main():
    build, version, seconds, out = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), pathlib.Path(sys.argv[4])
    out.mkdir(parents=True, exist_ok=True)
    libraries = {}
    for program in PROGRAMS:
        libraries.update(linked_libraries(build / "bin" / program))
    owners = {name: package_of(path) for name, path in libraries.items()}
    bundled = {name: path for name, path in libraries.items() if owners[name] not in OF_THE_SYSTEM}
    linked = describe_packages(set(owners.values()))
    compiled_in = {*COMPILED_IN, package_of(BOOST_HEADER)}
    document = sbom(version, seconds, linked, describe_packages(compiled_in), npm_packages(build))
    text = json.dumps(document, indent=1) + "\n"
    (out / f"itemdb-{version}.spdx.json").write_text(text)

    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / f"itemdb-{version}-linux-{platform.machine()}"
        for name in ("bin", "lib", "licences"):
            (folder / name).mkdir(parents=True)
        for program in PROGRAMS:
            copy = folder / "bin" / program
            shutil.copy(build / "bin" / program, copy)
            run("strip", str(copy))
            run("patchelf", "--force-rpath", "--set-rpath", "$ORIGIN/../lib", str(copy))
        for name, path in sorted(bundled.items()):
            shutil.copy(path, folder / "lib" / name)
            os.chmod(folder / "lib" / name, 0o644)
            # Another way to find libraries would come before that of the program.
            run("patchelf", "--remove-rpath", str(folder / "lib" / name))
        for package in sorted({owners[name] for name in bundled} | compiled_in):
            shutil.copy(f"/usr/share/doc/{package}/copyright", folder / "licences" / package)
        shutil.copy("/usr/share/common-licenses/GPL-3", folder / "licences/GPL-3")
        shutil.copy("/usr/share/common-licenses/LGPL-2.1", folder / "licences/LGPL-2.1")
        shutil.copy("/usr/share/common-licenses/Apache-2.0", folder / "licences/Apache-2.0")
        shutil.copy(SOURCE / "LICENSE", folder / "LICENSE")
        # With the licences of what the console contains.
        shutil.copy(COPYRIGHT, folder / "licences/itemdb")
        unit = (SOURCE / "packaging/itemd.service").read_text()
        (folder / "itemd.service").write_text(unit.replace("/usr/bin/itemd", "/opt/itemdb/bin/itemd"))
        for name in ("itemd.toml", "network.conf", "itemdb.sysusers"):
            shutil.copy(SOURCE / "packaging" / name, folder / name)
        readme = (SOURCE / "packaging/tarball.md").read_text()
        needed = newest_glibc([*(folder / "bin").iterdir(), *(folder / "lib").iterdir()])
        (folder / "README.md").write_text(readme.replace("@GLIBC@", needed))
        (folder / f"itemdb-{version}.spdx.json").write_text(text)
        tarball = out / f"{folder.name}.tar.gz"
        write_tarball(folder, tarball, seconds)
    print(f"{tarball} {tarball.stat().st_size}")


if __name__ == "__main__":
    main()
