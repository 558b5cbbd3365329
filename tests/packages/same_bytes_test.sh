#!/usr/bin/env bash
# Makes the Debian packages, the tarball, the SBOM and the package for npm again of the same build: they must have the same
# bytes.
#
#   same_bytes_test.sh BUILD VERSION SECONDS RELEASE FOLDER    as for packaging/debs.sh; FOLDER has what was made before
set -euo pipefail
build=$1 version=$2 seconds=$3 release=$4 before=$5
packaging=$(dirname "$(realpath "$0")")/../../packaging
again=$(mktemp -d)
trap 'rm -rf "$again"' EXIT
"$packaging/debs.sh" "$build" "$version" "$seconds" "$release" "$again"
"$packaging/bundle.py" "$build" "$version" "$seconds" "$again" >/dev/null
"$packaging/npm/make_package.py" "$again"/itemdb-*-linux-*.tar.gz "$again" >/dev/null
# Of another build too, in another folder and without ccache, if no program has a path of the build folder.
for program in "$build"/bin/itemd "$build"/bin/itemctl; do
  found=$(strings -n 8 "$program" | grep -E '(^|/)include/itemdb_|/build/release/' || true)
  if [[ -n "$found" ]]; then
    echo "${program##*/} has paths of the build folder: does a header use __FILE__? ${found}" >&2
    exit 1
  fi
done
for file in "$again"/*.deb "$again"/*.tar.gz "$again"/*.tgz "$again"/*.spdx.json; do
  cmp "$file" "$before/${file##*/}" || { echo "${file##*/} has other bytes when it is made again of the same build" >&2; exit 1; }
done
echo "made again, the Debian packages, the tarball, the SBOM and the package for npm have the same bytes"
