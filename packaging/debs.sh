#!/usr/bin/env bash
# Makes the Debian packages of a finished build. Files in them are dated by SECONDS, so that the same build makes the same
# packages.
#
#   debs.sh BUILD VERSION SECONDS RELEASE FOLDER    BUILD: a build folder; SECONDS: since 1970; RELEASE: of Debian, as 12;
#                                                   FOLDER: where the .deb files go
set -euo pipefail
build=$(realpath "$1") version=$2 seconds=$3 release=$4 folder=$(realpath "$5")
tree=$(cd "$(dirname "$(realpath "$0")")/.." && pwd)
work=$folder/itemdb-$version
mkdir -p "$work"
cd "$tree"
cp -r packaging/debian README.md SECURITY.md CHANGELOG.md docs "$work"
cat >"$work/debian/changelog" <<TEXT
itemdb ($version-1~deb${release}u1) unstable; urgency=medium

  * The changes are in /usr/share/doc/itemdb/changelog.gz.

 -- The itemdb developers <packages@itemdb.invalid>  $(LC_ALL=C date -u -d "@$seconds" '+%a, %d %b %Y %H:%M:%S +0000')
TEXT
cd "$work"
SOURCE_DATE_EPOCH=$seconds ITEMDB_BUILD=$build DEB_BUILD_OPTIONS=noautodbgsym dpkg-buildpackage -b -us -uc >../build.log 2>&1 ||
  { tail -n 40 ../build.log >&2; exit 1; }
